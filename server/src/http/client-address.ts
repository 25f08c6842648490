import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isWithin, normalizeAddress, parseAddress, parseNetwork } from '../shared/network/ip-networks.ts';

/**
 * The address of a client if a trusted proxy sends no valid address, such as `unknown` (RFC 7239 §6.2). No network
 * contains this address, and all such clients share their limits.
 */
const unknownAddress = 'unknown';

type IsTrusted = (address: string | undefined) => boolean;

/** Returns a function that returns true for the addresses of trusted proxies. @param networks their networks */
export function createProxyTrust(networks: readonly string[]): IsTrusted {
  const trusted = networks.map(parseNetwork);
  return (text) => {
    const address = trusted.length > 0 ? parseAddress(text ?? '') : undefined;
    return address !== undefined && trusted.some((network) => isWithin(address, network));
  };
}

/**
 * Sets `request.ip` to the address of the client in its canonical form, before any other code uses it. Otherwise, each
 * port or spelling that a proxy sends would count as another client, and proxies with a port would not be trusted. Call
 * this function before you register other hooks that use the address.
 */
export function addClientAddress(app: FastifyInstance, isTrusted: IsTrusted): void {
  app.addHook('onRequest', (request, _reply, done) => {
    // Replaces the property of Fastify, which has the text that the proxy sent.
    Object.defineProperty(request, 'ip', { value: findClientAddress(request.raw, isTrusted) });
    done();
  });
}

/**
 * Follows the chain of proxies from the connection to the client. Returns the first address that isn't a trusted proxy,
 * or the address of the last proxy.
 */
function findClientAddress({ socket, headers }: IncomingMessage, isTrusted: IsTrusted): string {
  let address = normalizeAddress(socket.remoteAddress ?? '');
  const forwarded = headers['x-forwarded-for'];
  if (forwarded === undefined || !isTrusted(address)) return address ?? unknownAddress;
  const hops = String(forwarded).split(',').reverse();
  for (const hop of hops.map((each) => each.trim()).filter((each) => each !== '')) {
    if (!isTrusted(address)) break;
    address = normalizeAddress(hop);
  }
  return address ?? unknownAddress;
}
