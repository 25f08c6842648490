import { html, type SafeHtml } from './html.ts';

const height = 24;
const step = 4;

const none = new Array<number>(24).fill(0);

/**
 * Renders the number of requests per hour as a small bar chart, and the total as text.
 * @param counts the number of requests in each hour, oldest first; by default, all are zero
 */
export function sparkLine(counts: readonly number[] = none): SafeHtml {
  const max = Math.max(1, ...counts);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const bars = counts.map((count, index) => {
    const top = height - Math.max(count === 0 ? 0 : 2, Math.round((count / max) * (height - 2)));
    return `M${index * step + 2} ${height}V${top}`;
  });
  const width = counts.length * step;
  const description = total === 0 ? 'no requests' : `${total} requests, at most ${max} per hour`;
  return html`<span class="spark"><svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img"
 aria-label="${description}"><path d="M0 ${height - 0.5}H${width}" stroke="currentColor" stroke-opacity="0.3"/>
<path d="${bars.join('')}" stroke="currentColor" stroke-width="3"/></svg>
<span aria-hidden="true">${total}</span></span>`;
}
