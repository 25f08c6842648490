import { lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { rootCertificates } from 'node:tls';
import { Agent, buildConnector } from 'undici';
import { connectTimeout } from './schedule.ts';
import { isPublicAddress } from './target.ts';

/** A target that leads where deliveries may not go. */
export class TargetRefused extends Error {
  override name = 'TargetRefused';
}

export interface ConnectionOptions {
  allowPrivateTargets: boolean;
  /** Resolves names, where a test does it by itself. */
  lookup?: LookupFunction;
  /** Certificates to trust beside the system's, for tests. */
  ca?: string;
}

/**
 * The connections that deliveries go over: TLS verified, no proxy, HTTP/1.1, and to public unicast addresses only.
 * A name is resolved once; every address that it resolves to must be public, and the connection goes to that very
 * answer, so that a name can't change its mind in between. What the socket is really connected to is checked last.
 */
export function createConnections({ allowPrivateTargets, lookup, ca }: ConnectionOptions): Agent {
  const connect = buildConnector({
    timeout: connectTimeout,
    allowH2: false,
    ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
    lookup: allowPrivateTargets ? (lookup ?? systemLookup) : publicOnly(lookup ?? nameServerLookup()),
  });
  const guarded: typeof connect = (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (socket && !allowPrivateTargets && !isPublicAddress(socket.remoteAddress ?? '')) {
        socket.destroy();
        callback(new TargetRefused('the connection led to an address that is not public'), null);
      } else if (error) callback(error, null);
      else callback(null, socket as NonNullable<typeof socket>);
    });
  };
  return new Agent({
    connect: guarded,
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 10_000,
    maxHeaderSize: 16_384,
  });
}

/**
 * Asks the name servers without the system's resolver, whose look-ups share four threads: a few names whose servers
 * don't answer would hold up all others. Public names need neither the hosts file nor what else the system knows.
 */
function nameServerLookup(): LookupFunction {
  const resolver = new Resolver({ timeout: connectTimeout / 2, tries: 1 });
  return (hostname, _options, callback) => {
    Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]).then(([v4, v6]) => {
      const of = (answer: typeof v4, family: number) =>
        answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
      const found = [...of(v4, 4), ...of(v6, 6)];
      const failed = v4.status === 'rejected' && found.length === 0;
      callback(failed ? v4.reason : null, found);
    });
  };
}

function publicOnly(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      const addresses = Array.isArray(found) ? found : [];
      if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address))) {
        return callback(new TargetRefused(`${hostname} resolves to an address that is not public`), []);
      }
      const [first] = addresses;
      if (options.all) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family);
    });
  };
}
