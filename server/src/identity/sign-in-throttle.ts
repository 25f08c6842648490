import ipaddr from 'ipaddr.js';
import type { Databases } from '../database/databases.ts';
import { ApiError } from '../errors.ts';
import { sha256 } from './token.ts';

/** Who tries to sign in. */
export interface Attempt {
  email: string;
  /** IP address. */
  address: string;
  /** Whether the browser has signed in to that account before. */
  known: boolean;
}

interface Limit {
  /** What is counted. */
  of: string;
  most: number;
  minutes: number;
}

/**
 * How often signing in may fail: for an account from an address, from an address at all, and for an account from everywhere.
 * The last doesn't hold for browsers that have signed in to it before, so whoever guesses locks nobody out.
 */
function limitsOf({ email, address, known }: Attempt): Limit[] {
  const network = networkOf(address);
  return [
    { of: `${email} from ${network}`, most: 10, minutes: 15 },
    { of: `from ${network}`, most: 50, minutes: 15 },
    ...(known ? [] : [{ of: `${email} from everywhere`, most: 100, minutes: 60 }]),
  ];
}

/** An IPv6 subscriber has a network of addresses. */
function networkOf(address: string): string {
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv6' ? ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`).toString() : parsed.toString();
}

/**
 * Counts an attempt as failed, before it is looked at: those that are made at once are counted, too.
 * @throws ApiError RATE_LIMIT_EXCEEDED when there were too many
 * @returns what takes it back, for an attempt that succeeds
 */
export async function countAttempt(
  { system }: Pick<Databases, 'system'>,
  attempt: Attempt,
): Promise<() => Promise<void>> {
  const limits = limitsOf(attempt).map((limit) => ({ ...limit, counted: sha256(limit.of) }));
  // In one order, so that attempts don't wait for each other in a circle.
  limits.sort((one, other) => Buffer.compare(one.counted, other.counted));
  const counted = limits.map(({ counted }) => Buffer.from(counted));
  const { rows }: { rows: { counted: Buffer; failures: number; seconds: number }[] } = await system.pool.query(count, [
    counted,
    limits.map(({ minutes }) => minutes),
  ]);
  for (const { most, ...limit } of limits) {
    const row = rows.find((each) => each.counted.equals(limit.counted));
    if (row !== undefined && row.failures > most) throw refused(row.seconds);
  }
  return async () => {
    await system.pool.query('UPDATE sign_in_failures SET failures = failures - 1 WHERE counted = ANY ($1)', [counted]);
  };
}

function refused(seconds: number): ApiError {
  const minutes = Math.max(1, Math.ceil(seconds / 60));
  const message = `Signing in has failed too often. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, or use a passkey.`;
  return new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: Math.max(1, seconds) });
}

/** A window begins with its first failure. What is a day old is cleared away by those who come. */
const count = `
  WITH old AS (
    DELETE FROM sign_in_failures WHERE counted IN (
      SELECT counted FROM sign_in_failures WHERE since < now() - interval '1 day' LIMIT 20 FOR UPDATE SKIP LOCKED)
  ), given AS (SELECT * FROM unnest($1::bytea[], $2::int[]) AS given (counted, minutes))
  INSERT INTO sign_in_failures AS f (counted, failures, since)
  SELECT counted, 1, now() FROM given
  ON CONFLICT (counted) DO UPDATE SET
    failures = CASE WHEN f.since < now() - make_interval(mins => (SELECT minutes FROM given WHERE given.counted = f.counted))
      THEN 1 ELSE f.failures + 1 END,
    since = CASE WHEN f.since < now() - make_interval(mins => (SELECT minutes FROM given WHERE given.counted = f.counted))
      THEN now() ELSE f.since END
  RETURNING f.counted, f.failures, ceil(extract(epoch FROM f.since
    + make_interval(mins => (SELECT minutes FROM given WHERE given.counted = f.counted)) - now()))::int AS seconds`;
