import { lookup as systemLookup } from 'node:dns';
import { Resolver, TIMEOUT } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { rootCertificates } from 'node:tls';
import { deliverySchedule } from '@itsm-api/contract';
import { Agent, buildConnector } from 'undici';
import { errorCode } from '../../shared/pg-errors.ts';
import { limitResponse } from './response-limit.ts';
import type { TargetPolicy } from './target.ts';

/** A target that leads where deliveries may not go. */
export class TargetRejected extends Error {
  override name = 'TargetRefused';
}

export interface AgentOptions {
  targets: TargetPolicy;
  /** Resolves names, where a test does it by itself. */
  lookup?: LookupFunction;
  /** Certificates to trust beside the system's, for tests. */
  ca?: string;
}

const { connectTimeout } = deliverySchedule;

/** How long a connection is kept that nothing is sent on. Milliseconds. */
const idleMs = 10_000;

/**
 * What deliveries are sent with: TLS verified, no proxy, HTTP/1.1, and connections to allowed addresses only.
 * A name is resolved once; every address that it resolves to must be allowed, and the connection goes to that very
 * answer, so that a name can't change its mind in between. What the socket is really connected to is checked last.
 */
export function createAgent({ targets, lookup, ca }: AgentOptions): Agent {
  const connect = buildConnector({
    timeout: connectTimeout,
    // Left to itself, one address of several is given up after 250 ms, which is less than the way across an ocean takes.
    autoSelectFamilyAttemptTimeout: 2000,
    allowH2: false,
    ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
    lookup: allowedOnly(targets, lookup ?? (targets.allowPrivate ? systemLookup : nameServerLookup())),
  });
  const guarded: typeof connect = (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const refusal = targets.refusalOf(socket?.remoteAddress ?? '');
      if (refusal === undefined && socket !== null) {
        limitResponse(socket);
        return callback(null, socket);
      }
      socket?.destroy();
      callback(new TargetRejected(`the server connected to an address that ${refusal}`), null);
    });
  };
  return new Agent({
    connect: guarded,
    allowH2: false,
    pipelining: 1,
    // Whatever the receiver says: it is the worker's connections that it would have kept.
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    maxHeaderSize: 16_384,
  });
}

/** For how long the system is believed to have the same name servers. Milliseconds. */
const nameServersMs = 60_000;

/**
 * Asks the name servers without the system's resolver, whose look-ups share four threads: a few names whose servers
 * don't answer would hold up all others. Public names need neither the hosts file nor what else the system knows.
 */
function nameServerLookup(): LookupFunction {
  const open = () => new Resolver({ timeout: connectTimeout / 2, tries: 1 });
  let kept = open();
  let madeAt = performance.now();
  // One that is kept remembers which servers don't answer, and asks the others first. Its patience may shrink to what
  // answers have taken so far (c-ares, metrics): who got none in time is asked for by one that knows nothing yet.
  const resolve = (how: 'resolve4' | 'resolve6', hostname: string) =>
    kept[how](hostname).catch((error: unknown) => {
      if (errorCode(error) !== TIMEOUT) throw error;
      return open()[how](hostname);
    });
  return (hostname, _options, callback) => {
    if (performance.now() > madeAt + nameServersMs) [kept, madeAt] = [open(), performance.now()];
    Promise.allSettled([resolve('resolve4', hostname), resolve('resolve6', hostname)]).then(([v4, v6]) => {
      const of = (answer: typeof v4, family: number) =>
        answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
      const found = [...of(v4, 4), ...of(v6, 6)];
      const failed = v4.status === 'rejected' && found.length === 0;
      callback(failed ? v4.reason : null, found);
    });
  };
}

function allowedOnly(targets: TargetPolicy, lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      const addresses = Array.isArray(found) ? found : [];
      const refusals = addresses.map(({ address }) => targets.refusalOf(address));
      const refusal = addresses.length === 0 ? 'is not public' : refusals.find((each) => each !== undefined);
      if (refusal !== undefined) {
        return callback(new TargetRejected(`${hostname} resolves to an address that ${refusal}`), []);
      }
      const [first] = addresses;
      if (options.all) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family);
    });
  };
}
