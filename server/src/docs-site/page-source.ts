import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { findApiDocument } from '../shared/api-document.ts';
import { groups, landing, markdownPath, operationGroups, type Page, pages } from './site-pages.ts';

const root = new URL('../../../', import.meta.url);

/**
 * Returns the Markdown of a page. Its links refer to files in the repository.
 * @throws Error if the page's source file doesn't exist
 */
export async function sourceOf({ source, title, about }: Page): Promise<string> {
  if (typeof source === 'function') return source(await findApiDocument());
  const text = await readFile(new URL(source, root), 'utf8');
  return source.endsWith('.md') ? text : `# ${title}\n\n${about}\n\n\`\`\`ts ${source}\n${text}\`\`\`\n`;
}

/**
 * Replaces links to repository files with links to the Markdown on this site. If a file is not on this site, converts
 * the link to plain text.
 */
export function withLinksToMarkdown(page: Page, markdown: string): string {
  const withoutDrawings = markdown.replace(/!\[([^\]]+)\]\([^)]*\.svg\)/g, 'Drawing: $1');
  return withoutDrawings.replace(
    /\[([^\]]+)\]\((\.{0,2}[\w/.-]+\.(?:md|ts))(#[\w-]+)?\)/g,
    (_, text, file, anchor = '') => {
      const target = findPage(page, file);
      return target === undefined ? text : `[${text}](${markdownPath(target)}${anchor})`;
    },
  );
}

/** Returns a link's URL on this site. Returns undefined if the link refers to a file that is not on this site. */
export function hrefOf(page: Page, link: string): string | undefined {
  if (/^(\/|#|https?:)/.test(link)) return link;
  const [file = '', anchor] = link.split('#');
  const target = findPage(page, file);
  return target && target.path + (anchor === undefined ? '' : `#${anchor}`);
}

/**
 * Returns the page whose source file is `file`.
 * @param file path relative to the source file of the first argument
 */
function findPage({ source }: Page, file: string): Page | undefined {
  if (typeof source !== 'string') return undefined;
  const path = posix.join(posix.dirname(source), file);
  return pages.find((each) => each.source === path);
}

/**
 * Returns the content of `llms.txt` (llmstxt.org). This file lists all pages, each with a description and a link to its
 * Markdown.
 */
export function listOfPages(): string {
  const line = (page: Page) => `- [${page.title}](${markdownPath(page)}): ${page.about}`;
  return `# ${landing.title}

> ${landing.about}

${line(landing)}
- [OpenAPI 3.1](/openapi.json): Every operation, parameter and field, for programs.

${groups.map(({ title, pages }) => `## ${title}\n\n${pages.map(line).join('\n')}`).join('\n\n')}

## Operations

${operationGroups.flatMap(({ pages }) => pages.map(line)).join('\n')}
`;
}
