import { errorDocsPath } from '@itsm-api/contract';
import { changelogPath } from '@itsm-api/contract/openapi';
import { escapeHtml } from './escape-html.ts';
import { icons } from './icons.ts';
import { script } from './inlined-assets.ts';
import {
  groups,
  landing,
  markdownPath,
  operationGroups,
  operationIndex,
  operationPages,
  type Page,
  pages,
  reference,
} from './site-pages.ts';

interface Content {
  page: Page;
  styles: string;
  /** The HTML that follows the header of the page. */
  body: string;
  /** Whether wide screens show the list of all pages next to the content. If false, a button opens the list. */
  listed: boolean;
  /**
   * The nonce for the page's scripts. A page needs a nonce if its content security policy doesn't contain the hashes of
   * the scripts.
   */
  nonce?: string;
}

/** Renders the HTML document of a page, with header, navigation, search and content. */
export function renderLayout({ page, styles, body, listed, nonce }: Content): string {
  const title = page === landing ? page.title : `${page.title} · ${landing.title}`;
  const allowed = nonce === undefined ? '' : ` nonce="${nonce}"`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(page.about.replaceAll('`', ''))}">
<meta name="theme-color" content="#2563eb">
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
${pages.includes(page) ? `<link rel="alternate" type="text/markdown" href="${markdownPath(page)}">` : '<meta name="robots" content="noindex">'}
<style>${styles}</style>
<script${allowed}>${script}</script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${header(page, nonce === undefined ? 'header' : 'section')}
${listed ? '<div class="columns">' : ''}
<nav id="menu" ${listed ? 'class="beside" ' : ''}aria-label="All pages" popover>
${menuOf(page)}
</nav>
${body}
${listed ? '</div>' : ''}
${searchDialog}
</body>
</html>
`;
}

/** Renders the header. On the reference page, `tag` is `section`, because Scalar renders its own banner landmark. */
function header(page: Page, tag: 'header' | 'section'): string {
  return `<${tag} class="bar" aria-label="Site">
<button type="button" class="icon menu" popovertarget="menu" aria-label="All pages">${icons.menu}</button>
<a class="brand" href="/">${icons.ticket}<span>ITSM <b>API</b></span></a>
<nav class="top" aria-label="Main">${topLinks.map((link) => topLink(link, page)).join('')}</nav>
<button type="button" class="find" aria-label="Search" aria-haspopup="dialog" hidden>${icons.search}<span>Search</span><kbd>/</kbd></button>
<button type="button" class="icon theme" aria-label="Dark theme" aria-pressed="false" hidden>${icons.theme}</button>
</${tag}>`;
}

/** Renders the lists of pages. The pages about operations list the other operations. */
function menuOf(page: Page): string {
  if (!operationPages.has(page)) return groups.map((group) => listOf(group.title, group.pages, page)).join('\n');
  const start = listOf('Documentation', [groups[0]?.pages[0] ?? landing, operationIndex, reference], page);
  return [start, ...operationGroups.map((group) => listOf(group.title, group.pages, page))].join('\n');
}

const searchDialog = `<dialog class="search" aria-label="Search">
<input type="text" enterkeyhint="search" placeholder="Search guides, operations and errors" aria-label="Search" role="combobox"
  aria-expanded="false" aria-autocomplete="list" aria-controls="found" autocomplete="off" spellcheck="false">
<ul id="found" role="listbox" aria-label="Results"></ul>
<p class="none" role="status"></p>
</dialog>`;

/** Renders the footer. It links to the page's Markdown and to other formats. */
export function footer(page: Page): string {
  return `<footer class="end">
<a href="${markdownPath(page)}">View as Markdown</a>
<a href="/llms.txt">llms.txt</a>
<a href="/openapi.json">OpenAPI 3.1</a>
<a href="/openapi-3.0.json">OpenAPI 3.0</a>
</footer>`;
}

const topLinks = [
  { title: 'Guides', href: '/docs/guides/first-request' },
  { title: 'Client', href: '/docs/client' },
  { title: 'Webhooks', href: '/docs/webhooks' },
  { title: 'Reference', href: operationIndex.path },
  { title: 'Errors', href: errorDocsPath },
  { title: 'Changelog', href: changelogPath },
];

function topLink({ title, href }: (typeof topLinks)[number], { path }: Page): string {
  return `<a href="${href}"${path === href ? ' aria-current="page"' : ''}>${title}</a>`;
}

function listOf(title: string, pages: Page[], current: Page): string {
  const id = `group-${title.toLowerCase().replaceAll(' ', '-')}`;
  const items = pages.map((page) => {
    const mark = page === current ? ' aria-current="page"' : '';
    return `<li><a href="${page.path}"${mark}>${escapeHtml(page.title)}</a></li>`;
  });
  return `<p id="${id}">${title}</p>
<ul aria-labelledby="${id}">${items.join('')}</ul>`;
}
