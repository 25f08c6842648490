import { openApiDocument } from '@itsm-api/contract/openapi';
import { ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import { listOfPages, sourceOf, withLinksToMarkdown } from '../docs-site/page-source.ts';
import { markdownPath, pages } from '../docs-site/site-pages.ts';

/** What an agent can read beside its tools. */
interface Resource {
  uri: string;
  name: string;
  description: string;
  mimeType: 'text/markdown' | 'text/plain';
  /** Its text, as the site serves it. */
  read(): Promise<string>;
}

/**
 * The guides and the list of all pages, which the site serves at the same paths: a link in one of them leads to the
 * URI of the other.
 */
const resources: readonly Resource[] = [
  {
    uri: uriOf('/llms.txt'),
    name: 'All pages',
    description: 'The index of the documentation.',
    mimeType: 'text/plain',
    read: async () => listOfPages(),
  },
  ...pages
    .filter(({ path }) => path.startsWith('/docs/guides/'))
    .map(
      (page): Resource => ({
        uri: uriOf(markdownPath(page)),
        name: page.title,
        description: page.about,
        mimeType: 'text/markdown',
        read: async () => withLinksToMarkdown(page, await sourceOf(page, openApiDocument)),
      }),
    ),
];

/** Has a server tell of the resources, and answer their texts. */
export function offerResources(server: Server): void {
  server.setRequestHandler('resources/list', () => ({
    resources: resources.map(({ read, ...described }) => described),
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const resource = resources.find((each) => each.uri === uri);
    if (resource === undefined) {
      throw new ResourceNotFoundError(uri, 'Unknown resource. Call resources/list for the available resources.');
    }
    return { contents: [{ uri, mimeType: resource.mimeType, text: await resource.read() }] };
  });
}

function uriOf(path: string): string {
  return `itsm://${path}`;
}
