import { icons } from '../../docs-site/icons.ts';
import { type AnyPage, hasRole, type View } from '../framework/page.ts';
import type { RequestContext, SignedIn, UserContext } from '../framework/request-context.ts';
import { scriptPath, stylePath } from '../framework/static-files.ts';
import { html, type SafeHtml } from './html.ts';

interface Frame extends View {
  /** All pages. The navigation shows the pages that have a `menu` label. */
  pages: readonly AnyPage[];
  /** The path and query of the current page. */
  url: string;
  visit?: RequestContext | undefined;
}

/**
 * The maximum interval in seconds at which a page refreshes without the script. A page with a longer interval refreshes
 * only with the script, because a full reload would lose the text that users are typing.
 */
const maxRefreshWithoutScript = 2;

/** Renders the HTML document of a page. */
export function renderLayout({
  title,
  body,
  reload,
  shownOnce = false,
  confirmation,
  pages,
  url,
  visit,
}: Frame): string {
  const user = visit?.user;
  const path = url.split('?', 1)[0] ?? url;
  const refreshes = reload !== undefined && reload <= maxRefreshWithoutScript && !shownOnce;
  const refresh = refreshes ? html`<noscript><meta http-equiv="refresh" content="${reload}"></noscript>` : '';
  const content = html`<main id="content" tabindex="-1" ${reload === undefined ? '' : html`data-reload="${reload}"`}>
<h1>${title}</h1>
${confirmation === undefined ? '' : html`<div class="notice good" role="status" tabindex="-1" data-focus>${confirmation}</div>`}
${reload === undefined ? '' : renderLoadTime(visit as UserContext, reload, url)}
${body}
</main>`;
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${user?.account.workspace ?? 'ITSM API'}</title>
<meta name="robots" content="noindex">
<meta name="theme-color" content="#2563eb">
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<link rel="stylesheet" href="${stylePath}">
<script src="${scriptPath}"></script>
${refresh}
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${header(user)}
${user === undefined ? html`<div class="alone">${content}</div>` : html`<div class="area">${menu(pages, path, user)}${content}</div>`}
</body>
</html>
`);
}

/** Renders the time when the page was loaded, and the interval at which the script refreshes it. */
function renderLoadTime({ context, time }: UserContext, reload: number, url: string): SafeHtml {
  const every = html`<span data-only-script hidden>, refreshed every ${reload === 1 ? 'second' : `${reload} seconds`}</span>`;
  return html`<p class="hint" id="read" data-watched>As of ${time(context.now().toISOString())}${every}. <a href="${url}">Refresh</a></p>`;
}

function header(user: SignedIn | undefined): SafeHtml {
  return html`<header class="bar">
${user && html`<button type="button" class="icon menu" popovertarget="menu" aria-label="All pages">${icons.menu}</button>`}
<a class="brand" href="/developer">${icons.ticket}<span>ITSM <b>Developer</b></span></a>
<nav class="top" aria-label="Documentation"><a href="/">Documentation</a><a href="/docs/">Reference</a></nav>
<button type="button" class="icon theme" aria-label="Dark theme" aria-pressed="false" hidden>${icons.theme}</button>
${user && html`<a class="who" href="/developer/account">${user.account.name}</a>`}
</header>`;
}

function menu(pages: readonly AnyPage[], path: string, { account }: SignedIn): SafeHtml {
  const entries = pages.filter(({ menu, roles }) => menu !== undefined && hasRole(roles, account.role));
  return html`<nav id="menu" class="beside" aria-label="Developer area" popover>
<p>${account.workspace}</p>
<ul>${entries.map(({ menu, path: to }) => {
    const current =
      path === to ? html`aria-current="page"` : path.startsWith(`${to}/`) ? html`aria-current="true"` : '';
    return html`<li><a href="${to}" ${current}>${menu}</a></li>`;
  })}</ul>
</nav>`;
}
