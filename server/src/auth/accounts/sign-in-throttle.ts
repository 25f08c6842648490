import { sql } from '../../database/client/sql.ts';
import { allTenants } from '../../database/client/statements.ts';
import { ApiError } from '../../shared/errors.ts';
import { clientNetworkOf } from '../../shared/network/ip-networks.ts';
import type { AccountStore } from './account.ts';
import { sha256 } from './token.ts';

/** An attempt to sign in with a password. */
export interface Attempt {
  email: string;
  /** The IP address of the client. */
  address: string;
}

/** A sign-in attempt that counts toward the limits for failed sign-ins. */
export interface CountedAttempt {
  /**
   * The error if the email address has too many failures from all networks combined, otherwise undefined. Throw the
   * error only if the browser has never signed in to the account. Otherwise, an attacker could lock out the user.
   */
  rejection: ApiError | undefined;
  /**
   * Removes the attempt from the counts of all limits. Call this function if the sign-in succeeds or the server
   * couldn't check the password.
   */
  takeBack(): Promise<void>;
  /**
   * Removes the attempt only from the count for the client's network. Call this function if the password matches some
   * but not all of the accounts.
   */
  takeBackOfNetwork(): Promise<void>;
}

interface Limit {
  /** The name of the counter. */
  of: string;
  /**
   * Whether the server caches the error for rejected attempts if the number of failures exceeds twice `maxFailures`.
   * While the error is cached, the server rejects attempts without counting them.
   */
  isCached?: boolean;
  maxFailures: number;
  minutes: number;
}

/**
 * Counts a sign-in attempt as a failure before the server checks the password. The limits therefore also apply to
 * concurrent attempts. If the attempt exceeds a limit for the client's network, it doesn't count toward the remaining
 * limits.
 * @throws ApiError RATE_LIMIT_EXCEEDED if the client's network has too many failures, in total or for the email address
 */
export async function countAttempt(
  { system }: Pick<AccountStore, 'system'>,
  { email, address }: Attempt,
): Promise<CountedAttempt> {
  const network = clientNetworkOf(address);
  const limits = [
    { of: `from ${network}`, maxFailures: 50, minutes: 15, isCached: true },
    { of: `${email} from ${network}`, maxFailures: 10, minutes: 15, isCached: true },
  ];
  for (const limit of limits) {
    const rejection = await countOne(system, limit);
    if (rejection !== undefined) throw rejection;
  }
  const everywhere = { of: `${email} from everywhere`, maxFailures: 100, minutes: 60 };
  const takeBack = async (refunded: Limit[]) => {
    const counted = refunded.map(({ of }) => Buffer.from(sha256(of)));
    await system.prisma.$sql(refund, { counted });
  };
  return {
    rejection: await countOne(system, everywhere),
    takeBack: () => takeBack([...limits, everywhere]),
    takeBackOfNetwork: () => takeBack(limits.slice(0, 1)),
  };
}

/** How long an error stays in the cache, in milliseconds, and how many errors the cache can contain. */
const cacheMs = 10_000;
const maxCachedErrors = 10_000;

/**
 * Caches the error for a limit if the number of failures exceeds twice the limit. Without the cache, many concurrent
 * attempts from one network would wait for the same row lock, and occupy database connections that other requests need.
 */
class ErrorCache {
  readonly #cached = new Map<string, { until: number; rejection: ApiError }>();

  find(name: string): ApiError | undefined {
    const cached = this.#cached.get(name);
    if (cached !== undefined && cached.until > performance.now()) return cached.rejection;
    this.#cached.delete(name);
    return undefined;
  }

  add(name: string, rejection: ApiError): void {
    const [oldest] = this.#cached.keys();
    if (this.#cached.size >= maxCachedErrors && oldest !== undefined) this.#cached.delete(oldest);
    this.#cached.set(name, { until: performance.now() + cacheMs, rejection });
  }
}

/** The error cache of each database. */
const errorCaches = new WeakMap<AccountStore['system'], ErrorCache>();

/** Counts an attempt toward a limit. Returns the error if the limit is exceeded. */
async function countOne(
  system: AccountStore['system'],
  { of, maxFailures, minutes, isCached }: Limit,
): Promise<ApiError | undefined> {
  const cache = errorCaches.get(system) ?? new ErrorCache();
  errorCaches.set(system, cache);
  const cached = cache.find(of);
  if (cached !== undefined) return cached;
  const counted = Buffer.from(sha256(of));
  const [{ failures, seconds } = { failures: 0, seconds: 0 }] = await system.prisma.$sql(count, { counted, minutes });
  if (failures <= maxFailures) return undefined;
  const rejection = tooManyFailures(seconds);
  // Concurrent attempts with the correct password also count as failures until the server refunds them. Therefore, the
  // error is cached only if the number of failures exceeds twice the limit.
  if (isCached === true && failures > 2 * maxFailures && seconds * 1000 > cacheMs) cache.add(of, rejection);
  return rejection;
}

function tooManyFailures(seconds: number): ApiError {
  const minutes = Math.max(1, Math.ceil(seconds / 60));
  const message = `Too many failed sign-ins. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, or use a passkey.`;
  return new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: Math.max(1, seconds) });
}

/**
 * The SQL statement that counts an attempt. The first attempt starts the time window of the limit. The statement also
 * deletes a few rows that are older than one day.
 */
const count = allTenants.rows<{ counted: Buffer; minutes: number }, { failures: number; seconds: number }>(
  ({ counted, minutes }) => sql`
  WITH old AS (
    DELETE FROM sign_in_failures WHERE counted IN (
      SELECT counted FROM sign_in_failures WHERE since < now() - interval '1 day' LIMIT 20 FOR UPDATE SKIP LOCKED)
  )
  INSERT INTO sign_in_failures AS f (counted, failures, since) VALUES (${counted}, 1, now())
  ON CONFLICT (counted) DO UPDATE SET
    failures = CASE WHEN f.since < now() - make_interval(mins => ${minutes}) THEN 1 ELSE f.failures + 1 END,
    since = CASE WHEN f.since < now() - make_interval(mins => ${minutes}) THEN now() ELSE f.since END
  RETURNING f.failures, ceil(extract(epoch FROM f.since + make_interval(mins => ${minutes}) - now()))::int AS seconds`,
);

const refund = allTenants.command<{ counted: Buffer[] }>(
  ({ counted }) => sql`UPDATE sign_in_failures SET failures = failures - 1 WHERE counted = ANY (${counted}::bytea[])`,
);
