import { lookup as systemLookup } from 'node:dns';
import { Resolver, TIMEOUT } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { rootCertificates } from 'node:tls';
import { deliverySchedule } from '@itsm-api/contract';
import { Agent, buildConnector } from 'undici';
import { errorCode } from '../../shared/error-codes.ts';
import { removeInformational } from './informational-responses.ts';
import { limitResponse } from './response-limit.ts';
import type { TargetPolicy } from './target.ts';

/** The error for a connection to an address that the target policy blocks. */
export class TargetRejected extends Error {
  override name = 'TargetRejected';
}

export interface AgentOptions {
  targets: TargetPolicy;
  /** Replaces the name resolution in tests. */
  lookup?: LookupFunction;
  /** A certificate to trust in addition to the root certificates of Node.js. For tests. */
  ca?: string;
}

const { connectTimeout } = deliverySchedule;

/** How many milliseconds the agent keeps an idle connection open. */
const idleMs = 10_000;

/**
 * Creates the HTTP agent for deliveries. The agent uses HTTP/1.1 without a proxy, verifies TLS certificates, and
 * connects only to allowed addresses.
 *
 * To prevent DNS rebinding, the agent resolves a name once, checks every address, and connects to one of these
 * addresses. After it connects, it also checks the socket's address.
 */
export function createAgent({ targets, lookup, ca }: AgentOptions): Agent {
  const connect = buildConnector({
    timeout: connectTimeout,
    // The default of 250 ms is too short to connect to a distant server, for example one on another continent.
    autoSelectFamilyAttemptTimeout: 2000,
    allowH2: false,
    ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
    lookup: allowedOnly(targets, lookup ?? (targets.allowPrivate ? systemLookup : nameServerLookup())),
  });
  const guarded: typeof connect = (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const reason = targets.findBlockReason(socket?.remoteAddress ?? '');
      if (reason === undefined && socket !== null) {
        limitResponse(socket);
        removeInformational(socket);
        return callback(null, socket);
      }
      socket?.destroy();
      callback(new TargetRejected(`the server connected to an address that ${reason}`), null);
    });
  };
  return new Agent({
    connect: guarded,
    allowH2: false,
    pipelining: 1,
    // Limits the keep-alive time that a receiver can request. Without the limit, a receiver could keep idle connections
    // open for a long time.
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    maxHeaderSize: 16_384,
  });
}

/**
 * The maximum age in milliseconds of the list of name servers. After this time, the next lookup reads the system's list
 * again.
 */
const maxNameServersAgeMs = 60_000;

/**
 * Returns a lookup that queries the name servers directly. Node.js runs the system's resolver on four threads, so a few
 * names with unresponsive name servers would block all other lookups. The lookup ignores the hosts file, because public
 * names don't need it.
 */
function nameServerLookup(): LookupFunction {
  const open = () => new Resolver({ timeout: connectTimeout / 2, tries: 1 });
  let resolver = open();
  let createdAt = performance.now();
  // Lookups share one resolver, because a resolver remembers which name servers failed and queries them last. However,
  // after fast responses, c-ares (the DNS library of Node.js) shortens the resolver's timeout. A slow lookup can then
  // time out too early, so the code repeats the lookup with a new resolver.
  const resolve = (how: 'resolve4' | 'resolve6', hostname: string) =>
    resolver[how](hostname).catch((error: unknown) => {
      if (errorCode(error) !== TIMEOUT) throw error;
      return open()[how](hostname);
    });
  return (hostname, _options, callback) => {
    if (performance.now() > createdAt + maxNameServersAgeMs) [resolver, createdAt] = [open(), performance.now()];
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
      const reasons = addresses.map(({ address }) => targets.findBlockReason(address));
      const reason = addresses.length === 0 ? 'is not public' : reasons.find((each) => each !== undefined);
      if (reason !== undefined) {
        return callback(new TargetRejected(`${hostname} resolves to an address that ${reason}`), []);
      }
      const [first] = addresses;
      if (options.all) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family);
    });
  };
}
