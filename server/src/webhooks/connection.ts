import { lookup as systemLookup } from 'node:dns';
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
  /** Resolves names; the system's resolver unless a test has another. */
  lookup?: LookupFunction;
  /** Certificates to trust beside the system's, for tests. */
  ca?: string;
}

/**
 * The connections that deliveries go over: TLS verified, no proxy, HTTP/1.1, and to public unicast addresses only.
 * A name is resolved once; every address that it resolves to must be public, and the connection goes to that very
 * answer, so that a name can't change its mind in between. What the socket is really connected to is checked last.
 */
export function createConnections({ allowPrivateTargets, lookup = systemLookup, ca }: ConnectionOptions): Agent {
  const connect = buildConnector({
    timeout: connectTimeout,
    allowH2: false,
    ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
    lookup: allowPrivateTargets ? lookup : publicOnly(lookup),
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
