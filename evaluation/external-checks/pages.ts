import type { Product } from './external-check.ts';

/** A page of the documentation site or of the developer area. */
export interface HtmlPage {
  path: string;
  html: string;
  headers: Headers;
}

const crawled = new WeakMap<Product, Promise<HtmlPage[]>>();

/** Returns all HTML pages that links reach from the landing page and, signed in, from the developer area. */
export function pagesOf(product: Product): Promise<HtmlPage[]> {
  const pages = crawled.get(product) ?? crawl(product);
  crawled.set(product, pages);
  return pages;
}

async function crawl(product: Product): Promise<HtmlPage[]> {
  const cookie = await signIn(product);
  const pages: HtmlPage[] = [];
  const paths = new Set(['/', '/developer/overview']);
  // Deletes nothing and changes nothing, because links only send GET requests.
  for (const path of paths) {
    const response = await fetch(product.origin + path, { headers: { cookie } });
    const html = await response.text();
    if (!response.ok || !response.headers.get('content-type')?.startsWith('text/html')) continue;
    pages.push({ path, html, headers: response.headers });
    for (const [, link = ''] of html.matchAll(/<a [^>]*href="([^"]*)"/g)) {
      const target = new URL(link.replaceAll('&amp;', '&'), product.origin + path);
      // Filters and sort orders lead to the same pages again.
      if (target.origin === product.origin) paths.add(target.pathname);
    }
  }
  return pages;
}

/** Opens the sign-in link of the first start, and returns the session cookie. */
async function signIn({ link }: Product): Promise<string> {
  const cookies = new Map<string, string>();
  const send = async (address: string, init: RequestInit = {}) => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(address, { ...init, headers: { cookie, ...init.headers }, redirect: 'manual' });
    for (const header of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  const form = await (await send(link)).text();
  const body = new URLSearchParams({ _csrf: /name="_csrf" value="([^"]+)"/.exec(form)?.[1] ?? '' });
  const headers = { origin: new URL(link).origin };
  const { status } = await send(`${link}&form=skip`, { method: 'POST', body, headers });
  if (status !== 303) throw new Error(`Signing in returned ${status}.`);
  return [...cookies].map((pair) => pair.join('=')).join('; ');
}
