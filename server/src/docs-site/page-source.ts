import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import type { OpenApi } from '@itsm-api/contract/openapi';
import { groups, landing, markdownPath, type Page, pages } from './site-pages.ts';

const root = new URL('../../../', import.meta.url);

/**
 * The Markdown of a page, with the links that it has in the repository. The document is asked for where the page is made of it:
 * to make that takes a few hundred milliseconds.
 * @throws where its file isn't there
 */
export async function sourceOf({ source, title, about }: Page, document: () => OpenApi): Promise<string> {
  if (typeof source === 'function') return source(document());
  const text = await readFile(new URL(source, root), 'utf8');
  return source.endsWith('.md') ? text : `# ${title}\n\n${about}\n\n\`\`\`ts ${source}\n${text}\`\`\`\n`;
}

/** The Markdown of a page with links to Markdown on this site. What isn't on it is named without a link. */
export function withLinksToMarkdown(page: Page, markdown: string): string {
  return markdown.replace(/\[([^\]]+)\]\((\.{0,2}[\w/.-]+\.(?:md|ts))(#[\w-]+)?\)/g, (_, text, file, anchor = '') => {
    const target = pageOf(page, file);
    return target === undefined ? text : `[${text}](${markdownPath(target)}${anchor})`;
  });
}

/** Where a link of a page leads on this site; undefined where it leads to a file that isn't on it. */
export function hrefOf(page: Page, link: string): string | undefined {
  if (/^(\/|#|https?:)/.test(link)) return link;
  const [file = '', anchor] = link.split('#');
  const target = pageOf(page, file);
  return target && target.path + (anchor === undefined ? '' : `#${anchor}`);
}

/** The page that a file is, which is named as from the file of another page. */
function pageOf({ source }: Page, file: string): Page | undefined {
  if (typeof source !== 'string') return undefined;
  const path = posix.join(posix.dirname(source), file);
  return pages.find((each) => each.source === path);
}

/** The site for programs that read: every page, its Markdown, and what it is about (llmstxt.org). */
export function listOfPages(): string {
  const line = (page: Page) => `- [${page.title}](${markdownPath(page)}): ${page.about}`;
  return `# ${landing.title}

> ${landing.about}

${line(landing)}
- [OpenAPI 3.1](/openapi.json): Every operation, parameter and field, for programs.

${groups.map(({ title, pages }) => `## ${title}\n\n${pages.map(line).join('\n')}`).join('\n\n')}
`;
}
