import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Settings } from './env.ts';

/** The request headers that proxies use to forward the client's address. */
export const forwardedHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip'] as const;

type Exposure = Pick<Settings, 'HOST' | 'TRUST_PROXY' | 'PUBLIC_URL'>;

/**
 * Returns true if only programs on this machine can reach the server. This is the case if `HOST` is a loopback address
 * and no setting specifies a proxy or a public origin.
 */
export function isLocalOnly({ HOST, TRUST_PROXY, PUBLIC_URL }: Exposure): boolean {
  const isPublic = PUBLIC_URL !== undefined && !isLoopback(new URL(PUBLIC_URL).hostname);
  return isLoopback(HOST) && TRUST_PROXY.length === 0 && !isPublic;
}

/** Returns true if only programs on this machine can reach the server, and the request didn't come through a proxy. */
export function isLocalRequest({ socket, headers }: IncomingMessage, settings: Exposure): boolean {
  const host = URL.parse(`http://${headers.host}`)?.hostname ?? '';
  const isForwarded = [...forwardedHeaders, 'via'].some((name) => headers[name] !== undefined);
  return isLocalOnly(settings) && isLoopback(socket.remoteAddress ?? '') && isLoopback(host) && !isForwarded;
}

function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(address) ? ipaddr.process(address).range() === 'loopback' : address === 'localhost';
}
