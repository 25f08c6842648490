import { escapeHtml } from './escape-html.ts';
import { styles } from './inlined-assets.ts';
import { type Section, sectionsOf, toHtml } from './markdown.ts';
import { hrefOf } from './page-source.ts';
import { footer, renderLayout } from './site-layout.ts';
import { groups, landing, type Page } from './site-pages.ts';

/**
 * Renders the landing page. Each section has text on one side and code on the other. The last section lists all pages.
 */
export function landingPage(markdown: string): string {
  const [head, ...steps] = sectionsOf(markdown);
  const body = `<main id="content" class="landing" tabindex="-1">
${head === undefined ? '' : section(head, 'hero')}
${steps.map((step) => section(step, 'step')).join('\n')}
<section class="shelf" aria-label="All pages by task">
${groups.map(({ title, pages }) => shelf(title, pages)).join('\n')}
</section>
${footer(landing)}
</main>`;
  return renderLayout({ page: landing, styles, body, listed: false });
}

function section({ id, tokens }: Section, kind: 'hero' | 'step'): string {
  const html = (isCode: boolean) =>
    toHtml(
      tokens.filter(({ type }) => (type === 'code') === isCode),
      (link) => hrefOf(landing, link),
    );
  return `<section class="${kind}"${kind === 'hero' ? '' : ` aria-labelledby="${id}"`}>
<div class="prose">
${html(false)}</div>
<div class="samples">
${html(true)}</div>
</section>`;
}

function shelf(title: string, pages: Page[]): string {
  const items = pages.map(
    ({ path, title, about }) =>
      `<li><a href="${path}">${escapeHtml(title)}</a> <span>${escapeHtml(about.replaceAll('`', ''))}</span></li>`,
  );
  return `<div><h2>${title}</h2><ul>${items.join('')}</ul></div>`;
}
