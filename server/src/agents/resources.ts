import { openApiDocument } from '@itsm-api/contract/openapi';
import { markdownPath, pages } from '../site/pages.ts';
import { listOfPages, sourceOf, withLinksToMarkdown } from '../site/source.ts';

/** What an agent can read beside its tools. */
export interface Resource {
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
export const resources: readonly Resource[] = [
  {
    uri: uriOf('/llms.txt'),
    name: 'All pages',
    description: 'What there is to read about the API.',
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
        read: async () => withLinksToMarkdown(page, await sourceOf(page, openApiDocument())),
      }),
    ),
];

function uriOf(path: string): string {
  return `itsm://${path}`;
}
