import type { PageMeta } from '@itsm-api/contract';
import { html, type SafeHtml } from '@remix-run/html-template';

export { html, type SafeHtml } from '@remix-run/html-template';

/* Functions that render page components. `html` escapes all values except the results of `html`. */

export type Cell = SafeHtml | string | number | null;

/**
 * Renders a table. On a narrow screen, each row becomes a block of labeled lines, so the cells need explicit ARIA
 * roles. If the cells of a column start with a time, the column header shows the time zone.
 * @param empty the content to show instead of the table if there are no rows
 */
export function table(
  caption: string,
  head: readonly Cell[],
  rows: readonly (readonly Cell[])[],
  empty: Cell,
): SafeHtml {
  if (rows.length === 0) return emptyState(empty);
  const zones = head.map((_, column) => findColumnZone(rows, column));
  const labels = head.map(getHeaderText);
  const cells = (row: readonly Cell[]) =>
    row.map((cell, column) => html`<td role="cell" data-label="${labels[column]}">${cell}</td>`);
  return html`<div class="table" tabindex="0" role="region" aria-label="${caption}"><table role="table">
<caption class="unseen">${caption}</caption>
<thead role="rowgroup"><tr role="row">${head.map((cell, column) => renderHeader(cell, zones[column]))}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${cells(row)}</tr>`)}</tbody>
</table></div>`;
}

/** Renders a column header. Columns with buttons have no name, so their header cell is empty. */
function renderHeader(cell: Cell, zone: string | undefined): SafeHtml {
  if (cell === '') return html`<td role="cell"></td>`;
  return html`<th role="columnheader" scope="col">${cell}${zone && html` <span class="zone">(${zone})</span>`}</th>`;
}

/** Returns the text of a column header, without HTML tags and without the sort arrow. */
function getHeaderText(cell: Cell): string {
  return String(cell ?? '')
    .replace(/<svg.*/s, '')
    .replace(/<[^>]*>/g, '')
    .trim();
}

function findColumnZone(rows: readonly (readonly Cell[])[], column: number): string | undefined {
  const zones = rows.map((row) => /^<time [^>]*data-zone="([^"]+)"/.exec(String(row[column]))?.[1]);
  return zones.find((zone) => zone !== undefined);
}

export function emptyState(what: Cell): SafeHtml {
  return html`<div class="empty">${what}</div>`;
}

/** Renders names and values as a description list. Omits values that are null. */
export function facts(lines: Record<string, Cell>): SafeHtml {
  return factList(Object.entries(lines));
}

/** Renders names, which can be equal, and values as a description list. Omits values that are null. */
export function factList(lines: readonly (readonly [name: string, value: Cell])[]): SafeHtml {
  const entries = lines.filter(([, value]) => value !== null);
  return html`<dl class="facts">${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Renders a status badge. */
export function badge(text: string, kind: 'good' | 'warn' | 'bad' | 'plain' = 'plain'): SafeHtml {
  return html`<span class="badge ${kind}">${text}</span>`;
}

/** Renders a section with a heading. */
export function section(title: string, body: SafeHtml | readonly SafeHtml[]): SafeHtml {
  return html`<section><h2>${title}</h2>${[body].flat() as SafeHtml[]}</section>`;
}

/**
 * Renders a collapsible section.
 * @param open whether the section is expanded, for example because its form has errors
 */
export function folded(title: string, open: boolean, body: SafeHtml): SafeHtml {
  return html`<details class="fold" ${open ? html`open` : ''}><summary><h2>${title}</h2></summary>${body}</details>`;
}

/** Renders a notice, such as a confirmation or an error. */
export function notice(body: Cell, kind: 'good' | 'warn' | 'bad' = 'good'): SafeHtml {
  return html`<div class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${body}</div>`;
}

/** Renders a code block. */
export function code(text: string, label: string): SafeHtml {
  return html`<div class="code"><pre tabindex="0" aria-label="${label}"><code>${text}</code></pre></div>`;
}

/** Renders a link that looks like a button. */
export function linkButton(href: string, text: string, kind: 'main' | 'plain' = 'plain'): SafeHtml {
  return html`<a class="button ${kind}" href="${href}">${text}</a>`;
}

/**
 * Renders the pagination of a list.
 * @param address the path and query of the page; the query parameter `name` is the page number
 */
export function pager(
  { page, perPage, totalCount, totalCountCapped }: PageMeta,
  address: string,
  { name = 'page', label = 'Pages' } = {},
): SafeHtml {
  const last = Math.max(1, Math.ceil(totalCount / perPage));
  const all = `${totalCount}${totalCountCapped === true ? ' or more' : ''} in total`;
  if (totalCount === 0) return html``;
  if (last === 1 && page === 1) return html`<p class="count">${all}</p>`;
  const link = (to: number, text: string, rel: string) =>
    to < 1 || to > last
      ? html`<span>${text}</span>`
      : html`<a href="${withQuery(address, { [name]: to })}" rel="${rel}">${text}</a>`;
  return html`<nav class="pager" aria-label="${label}">${link(Math.min(page - 1, last), 'Newer', 'prev')}
<span class="count">Page ${page} of ${last}, ${all}</span>${link(page + 1, 'Older', 'next')}</nav>`;
}

/** The maximum page number of `uncountedPager`. To find older rows, users filter by time. */
export const maxUncountedPage = 2000;

/** Renders links to newer and older rows. Doesn't show the total count, because counting is slow. */
export function uncountedPager(
  { page, hasMore }: { page: number; hasMore: boolean },
  address: string,
): SafeHtml | null {
  if (page === 1 && !hasMore) return null;
  const to = (other: number) => withQuery(address, { page: other === 1 ? undefined : other });
  const older = hasMore && page < maxUncountedPage;
  return html`<nav class="pager" aria-label="Pages">
${page > 1 ? html`<a href="${to(page - 1)}" rel="prev">Newer</a>` : html`<span>Newer</span>`}
<span class="count">Page ${page}</span>
${older ? html`<a href="${to(page + 1)}" rel="next">Older</a>` : html`<span>Older</span>`}</nav>`;
}

/** Returns a path with changed query parameters. If a value is undefined, removes its parameter. */
export function withQuery(address: string, values: Record<string, string | number | undefined>): string {
  const url = new URL(address, 'http://localhost');
  for (const [name, value] of Object.entries(values)) {
    url.searchParams.delete(name);
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.pathname + url.search;
}
