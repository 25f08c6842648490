import type { FastifyRequest } from 'fastify';
import type { RelyingParty } from '../../auth/accounts/passkeys.ts';

/**
 * The address of the area as browsers know it: that of `PUBLIC_URL`, or `localhost` with whatever port. Others have none:
 * what a request calls this host isn't to decide for whom passkeys are made.
 */
export function siteOf(
  { host }: Pick<FastifyRequest, 'host'>,
  publicUrl: string | undefined,
): RelyingParty | undefined {
  const url = URL.parse(publicUrl ?? `http://${host}`);
  if (url === null || (publicUrl === undefined && url.hostname !== 'localhost')) return undefined;
  return { origin: url.origin, id: url.hostname };
}

/**
 * Where the same page is at the area's own address, where it was asked for at another one; browsers refuse passkeys on
 * bare addresses. Undefined where it is there, and where nobody said what the address is.
 */
export function elsewhere(
  { host, url }: Pick<FastifyRequest, 'host' | 'url'>,
  publicUrl: string | undefined,
): string | undefined {
  const asked = URL.parse(`http://${host}`);
  if (asked === null) return undefined;
  if (publicUrl !== undefined) return asked.host === hostOf(publicUrl) ? undefined : new URL(publicUrl).origin + url;
  if (!['127.0.0.1', '[::1]'].includes(asked.hostname)) return undefined;
  return `http://localhost${asked.port === '' ? '' : `:${asked.port}`}${url}`;
}

/** As a request over http would name it: without the port of https. */
function hostOf(publicUrl: string): string {
  return new URL(publicUrl).host;
}

/** Whether a form was sent by a page of this site. Old browsers that send no Origin say where they come from otherwise. */
export function isFromSite({ headers }: Pick<FastifyRequest, 'headers'>, { origin }: RelyingParty): boolean {
  if (headers.origin !== undefined) return headers.origin === origin;
  return headers['sec-fetch-site'] === 'same-origin';
}
