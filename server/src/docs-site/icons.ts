import { html, type SafeHtml } from '@remix-run/html-template';

const stroked = (path: SafeHtml) =>
  html`<svg viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">${path}</svg>`;

/** The SVG icons of the documentation site and the developer area. */
export const icons = {
  menu: stroked(html`<path d="M2 4h12M2 8h12M2 12h12"/>`),
  search: stroked(html`<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 4 4"/>`),
  theme: stroked(html`<circle cx="8" cy="8" r="6"/><path fill="currentColor" d="M8 2a6 6 0 0 1 0 12z"/>`),
  ticket: html`<svg viewBox="0 0 16 16" width="22" height="22" aria-hidden="true"><path fill="#2563eb"
 d="M1 4h14v2.5a1.5 1.5 0 0 0 0 3V12H1V9.5a1.5 1.5 0 0 0 0-3z"/></svg>`,
};
