import type { FastifyRequest } from 'fastify';
import type { RelyingParty } from '../../auth/accounts/passkeys.ts';

/**
 * Returns the origin of the developer area. This is the origin in `PUBLIC_URL` or, if `PUBLIC_URL` isn't set,
 * `localhost` with the requested port.
 *
 * If `PUBLIC_URL` isn't set, returns undefined for all hosts except `localhost`. Otherwise, a client could use the
 * `Host` header to choose the site for which browsers create passkeys.
 */
export function findSite(
  { host }: Pick<FastifyRequest, 'host'>,
  publicUrl: string | undefined,
): RelyingParty | undefined {
  const url = URL.parse(publicUrl ?? `http://${host}`);
  if (url === null || (publicUrl === undefined && url.hostname !== 'localhost')) return undefined;
  return { origin: url.origin, id: url.hostname };
}

/**
 * Returns the URL to redirect to if the request uses a host other than the public host. If the public host is unknown,
 * redirects only loopback IP addresses, to `localhost`, because browsers reject passkeys on IP addresses. Returns
 * undefined if no redirect is necessary.
 */
export function findRedirectUrl(
  { host, url }: Pick<FastifyRequest, 'host' | 'url'>,
  publicUrl: string | undefined,
): string | undefined {
  const requested = URL.parse(`http://${host}`);
  if (requested === null) return undefined;
  if (publicUrl !== undefined) {
    const { host, origin } = new URL(publicUrl);
    return requested.host === host ? undefined : origin + url;
  }
  if (!['127.0.0.1', '[::1]'].includes(requested.hostname)) return undefined;
  return `http://localhost${requested.port === '' ? '' : `:${requested.port}`}${url}`;
}

/**
 * Returns true if a page of this site sent the form. If the request has no `Origin` header, checks `Sec-Fetch-Site`.
 */
export function isFromSite({ headers }: Pick<FastifyRequest, 'headers'>, { origin }: RelyingParty): boolean {
  if (headers.origin !== undefined) return headers.origin === origin;
  return headers['sec-fetch-site'] === 'same-origin';
}
