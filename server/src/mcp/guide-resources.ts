import { ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import { listOfPages, sourceOf, withLinksToMarkdown } from '../docs-site/page-source.ts';
import { markdownPath, pages } from '../docs-site/site-pages.ts';
import type { Context } from '../resources/shared/context.ts';
import { describeDefinitions } from './field-definitions.ts';

/** An MCP resource: a text that agents can read. */
interface Resource {
  uri: string;
  name: string;
  description: string;
  mimeType: 'text/markdown' | 'text/plain';
  /** Returns the text. The text of a page is the same as on the documentation site. */
  read(context: Pick<Context, 'db'>): Promise<string>;
}

/**
 * The custom fields of the workspace, the guides and the list of all documentation pages. The URIs of pages contain the
 * same paths as the documentation site, so that agents can follow links between pages.
 */
const resources: readonly Resource[] = [
  {
    uri: toUri('custom-fields'),
    name: 'Custom fields',
    description: 'The custom fields of tickets and assets in this workspace, with their types and options.',
    mimeType: 'text/plain',
    read: describeDefinitions,
  },
  {
    uri: toUri('/llms.txt'),
    name: 'All pages',
    description: 'The index of the documentation.',
    mimeType: 'text/plain',
    read: async () => listOfPages(),
  },
  ...pages
    .filter(({ path }) => path.startsWith('/docs/guides/'))
    .map(
      (page): Resource => ({
        uri: toUri(markdownPath(page)),
        name: page.title,
        description: page.about,
        mimeType: 'text/markdown',
        read: async () => withLinksToMarkdown(page, await sourceOf(page)),
      }),
    ),
];

/**
 * Adds handlers to the MCP server for listing and reading resources.
 * @param run calls a function with the context of the request
 */
export function addResourceHandlers(server: Server, run: (read: Resource['read']) => Promise<string>): void {
  server.setRequestHandler('resources/list', () => ({
    resources: resources.map(({ read, ...described }) => described),
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const resource = resources.find((each) => each.uri === uri);
    if (resource === undefined) {
      throw new ResourceNotFoundError(uri, 'Unknown resource. Call resources/list for the available resources.');
    }
    return { contents: [{ uri, mimeType: resource.mimeType, text: await run(resource.read) }] };
  });
}

function toUri(path: string): string {
  return `itsm://${path}`;
}
