import ipaddr from 'ipaddr.js';
import { ApiError } from '../../shared/errors.ts';
import type { AccountStore } from './account.ts';
import { sha256 } from './token.ts';

/** An attempt to sign in. */
export interface Attempt {
  email: string;
  /** IP address. */
  address: string;
}

/** A counted attempt. */
export interface Counted {
  /**
   * The error for browsers that have never signed in to the account, if its limit for all addresses is exceeded. Known
   * browsers can still sign in, so an attacker can't lock out the user.
   */
  refusal: ApiError | undefined;
  /** Refunds the attempt, if it succeeds or its password was not checked. */
  takeBack(): Promise<void>;
  /** Refunds only the limit of the network, if the attempt matches some accounts but not all. */
  takeBackOfNetwork(): Promise<void>;
}

interface Limit {
  /** Name of the counter. */
  of: string;
  /**
   * Whether an error is cached if the limit is far exceeded. While it is cached, attempts are neither counted nor
   * queried.
   */
  isCached?: boolean;
  maxFailures: number;
  minutes: number;
}

/**
 * Counts an attempt as failed before its password is checked, so that concurrent attempts are limited. An attempt that
 * the limit of its address rejects doesn't count for the other limits.
 * @throws ApiError RATE_LIMIT_EXCEEDED if the address has too many failures, in total or for the account
 */
export async function countAttempt(
  { system }: Pick<AccountStore, 'system'>,
  { email, address }: Attempt,
): Promise<Counted> {
  const network = networkOf(address);
  const limits = [
    { of: `from ${network}`, maxFailures: 50, minutes: 15, isCached: true },
    { of: `${email} from ${network}`, maxFailures: 10, minutes: 15, isCached: true },
  ];
  for (const limit of limits) {
    const refusal = await countOne(system, limit);
    if (refusal !== undefined) throw refusal;
  }
  const everywhere = { of: `${email} from everywhere`, maxFailures: 100, minutes: 60 };
  const takeBack = async (refunded: Limit[]) => {
    const counted = refunded.map(({ of }) => Buffer.from(sha256(of)));
    await system.pool.query('UPDATE sign_in_failures SET failures = failures - 1 WHERE counted = ANY ($1)', [counted]);
  };
  return {
    refusal: await countOne(system, everywhere),
    takeBack: () => takeBack([...limits, everywhere]),
    takeBackOfNetwork: () => takeBack(limits.slice(0, 1)),
  };
}

/** How long errors are cached, and the maximum number of them. Milliseconds. */
const cacheMs = 10_000;
const maxCachedErrors = 10_000;

/**
 * Caches errors of limits that are far exceeded. Otherwise, a flood from one network would wait for one row and occupy
 * connections that others need.
 */
class ErrorCache {
  readonly #cached = new Map<string, { until: number; refusal: ApiError }>();

  find(name: string): ApiError | undefined {
    const cached = this.#cached.get(name);
    if (cached !== undefined && cached.until > performance.now()) return cached.refusal;
    this.#cached.delete(name);
    return undefined;
  }

  add(name: string, refusal: ApiError): void {
    const [oldest] = this.#cached.keys();
    if (this.#cached.size >= maxCachedErrors && oldest !== undefined) this.#cached.delete(oldest);
    this.#cached.set(name, { until: performance.now() + cacheMs, refusal });
  }
}

/** Caches by database. */
const errorCaches = new WeakMap<AccountStore['system'], ErrorCache>();

/**
 * Returns the network of an address: /64 for IPv6, because a subscriber has many addresses. Other names that a proxy
 * sends are used unchanged.
 */
function networkOf(address: string): string {
  const withoutPort = address.replace(/^\[(.*)\]:\d+$|^([\d.]+):\d+$/, '$1$2');
  if (!ipaddr.isValid(withoutPort)) return address;
  const parsed = ipaddr.process(withoutPort);
  return parsed.kind() === 'ipv6' ? ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`).toString() : parsed.toString();
}

/** Returns the error if the limit is exceeded. */
async function countOne(
  system: AccountStore['system'],
  { of, maxFailures, minutes, isCached }: Limit,
): Promise<ApiError | undefined> {
  const cache = errorCaches.get(system) ?? new ErrorCache();
  errorCaches.set(system, cache);
  const cached = cache.find(of);
  if (cached !== undefined) return cached;
  const { rows }: { rows: { failures: number; seconds: number }[] } = await system.pool.query(count, [
    Buffer.from(sha256(of)),
    minutes,
  ]);
  const [{ failures, seconds } = { failures: 0, seconds: 0 }] = rows;
  if (failures <= maxFailures) return undefined;
  const refusal = tooManyFailures(seconds);
  // Attempts are refunded after they succeed. Concurrent successful attempts rarely exceed twice the limit.
  if (isCached === true && failures > 2 * maxFailures && seconds * 1000 > cacheMs) cache.add(of, refusal);
  return refusal;
}

function tooManyFailures(seconds: number): ApiError {
  const minutes = Math.max(1, Math.ceil(seconds / 60));
  const message = `Too many failed sign-ins. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, or use a passkey.`;
  return new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: Math.max(1, seconds) });
}

/** The first failure opens a window. Each attempt also deletes some rows that are older than one day. */
const count = `
  WITH old AS (
    DELETE FROM sign_in_failures WHERE counted IN (
      SELECT counted FROM sign_in_failures WHERE since < now() - interval '1 day' LIMIT 20 FOR UPDATE SKIP LOCKED)
  )
  INSERT INTO sign_in_failures AS f (counted, failures, since) VALUES ($1, 1, now())
  ON CONFLICT (counted) DO UPDATE SET
    failures = CASE WHEN f.since < now() - make_interval(mins => $2) THEN 1 ELSE f.failures + 1 END,
    since = CASE WHEN f.since < now() - make_interval(mins => $2) THEN now() ELSE f.since END
  RETURNING f.failures, ceil(extract(epoch FROM f.since + make_interval(mins => $2) - now()))::int AS seconds`;
