import { escapeHtml } from './escape-html.ts';
import { styles } from './inlined-assets.ts';
import { landingPage } from './landing.ts';
import { type Section, sectionsOf, toHtml } from './markdown.ts';
import { hrefOf } from './page-source.ts';
import { footer, renderLayout } from './site-layout.ts';
import { landing, operationPages, type Page, pages } from './site-pages.ts';

/** Renders the HTML of a page from its Markdown. */
export function toPage(page: Page, markdown: string): string {
  return page === landing ? landingPage(markdown) : article(page, markdown);
}

/** Renders a text page. Next to the text are a list of all pages and a list of the page's headings. */
function article(page: Page, markdown: string): string {
  const sections = sectionsOf(markdown);
  const words = sections.map(({ tokens }) => toHtml(tokens, (link) => hrefOf(page, link))).join('');
  const body = `<main id="content" tabindex="-1">
<article class="prose${operationPages.has(page) ? ' operation' : ''}">
${words}</article>
${pages.includes(page) ? `${neighbours(page)}\n${footer(page)}` : ''}
</main>
${contents(sections)}`;
  return renderLayout({ page, styles, body, listed: true });
}

function contents(sections: Section[]): string {
  const below = sections.filter(({ depth }) => depth === 2);
  if (below.length < 2) return '';
  const items = below.map(({ id, title }) => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`);
  return `<nav class="contents" aria-labelledby="contents">
<p id="contents">On this page</p>
<ul>${items.join('')}</ul>
</nav>`;
}

/** Renders links to the previous page and the next page in reading order. */
function neighbours(page: Page): string {
  const isOperation = operationPages.has(page);
  const read = pages.slice(1).filter((each) => operationPages.has(each) === isOperation);
  const at = read.indexOf(page);
  const link = (to: Page | undefined, rel: 'prev' | 'next', word: string) =>
    to === undefined ? '' : `<a rel="${rel}" href="${to.path}"><small>${word}</small>${escapeHtml(to.title)}</a>`;
  return `<nav class="neighbours" aria-label="Previous and next page">
${link(read[at - 1], 'prev', 'Previous')}${link(read[at + 1], 'next', 'Next')}
</nav>`;
}
