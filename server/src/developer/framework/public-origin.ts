import type { FastifyRequest } from 'fastify';
import type { RelyingParty } from '../../auth/accounts/passkeys.ts';

/**
 * Returns the origin of the area: `PUBLIC_URL`, or `localhost` with any port. Other hosts return undefined, because the
 * `Host` header must not decide for which site passkeys are created.
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
 * Returns the URL of the page at the public origin if the request uses a different host. Browsers reject passkeys on IP
 * addresses, so these redirect to `localhost`. Returns undefined if the host is right or the public origin is unknown.
 */
export function findRedirectUrl(
  { host, url }: Pick<FastifyRequest, 'host' | 'url'>,
  publicUrl: string | undefined,
): string | undefined {
  const requested = URL.parse(`http://${host}`);
  if (requested === null) return undefined;
  if (publicUrl !== undefined)
    return requested.host === getHost(publicUrl) ? undefined : new URL(publicUrl).origin + url;
  if (!['127.0.0.1', '[::1]'].includes(requested.hostname)) return undefined;
  return `http://localhost${requested.port === '' ? '' : `:${requested.port}`}${url}`;
}

/** Returns the host without the default port, as the `Host` header contains it. */
function getHost(publicUrl: string): string {
  return new URL(publicUrl).host;
}

/** Returns whether a page of this site sent the form. Uses `Sec-Fetch-Site` if the browser sent no `Origin`. */
export function isFromSite({ headers }: Pick<FastifyRequest, 'headers'>, { origin }: RelyingParty): boolean {
  if (headers.origin !== undefined) return headers.origin === origin;
  return headers['sec-fetch-site'] === 'same-origin';
}
