import ipaddr from 'ipaddr.js';
import type { Databases } from '../database/databases.ts';
import { ApiError } from '../errors.ts';
import { sha256 } from './token.ts';

/** Who tries to sign in. */
export interface Attempt {
  email: string;
  /** IP address. */
  address: string;
}

/** An attempt that was counted. */
export interface Counted {
  /**
   * What browsers are told that have never signed in to the account, where it is guessed at from everywhere. Others go on,
   * so whoever guesses locks nobody out.
   */
  refusal: ApiError | undefined;
  /** Takes it back: it succeeds. */
  takeBack(): Promise<void>;
}

interface Limit {
  /** What is counted. */
  of: string;
  most: number;
  minutes: number;
}

/**
 * Counts an attempt as failed, before it is looked at: those that are made at once are counted, too. What an address is
 * refused counts against nobody else, and takes no room.
 * @throws ApiError RATE_LIMIT_EXCEEDED when there were too many from the address, at all or for the account
 */
export async function countAttempt(
  { system }: Pick<Databases, 'system'>,
  { email, address }: Attempt,
): Promise<Counted> {
  const network = networkOf(address);
  const limits = [
    { of: `from ${network}`, most: 50, minutes: 15 },
    { of: `${email} from ${network}`, most: 10, minutes: 15 },
  ];
  for (const limit of limits) {
    const refusal = await countOne(system, limit);
    if (refusal !== undefined) throw refusal;
  }
  const everywhere = { of: `${email} from everywhere`, most: 100, minutes: 60 };
  const counted = [...limits, everywhere].map(({ of }) => Buffer.from(sha256(of)));
  return {
    refusal: await countOne(system, everywhere),
    async takeBack() {
      await system.pool.query('UPDATE sign_in_failures SET failures = failures - 1 WHERE counted = ANY ($1)', [
        counted,
      ]);
    },
  };
}

/** An IPv6 subscriber has a network of addresses. What is no address, but was told by a proxy, is as good a name. */
function networkOf(address: string): string {
  const withoutPort = address.replace(/^\[(.*)\]:\d+$|^([\d.]+):\d+$/, '$1$2');
  if (!ipaddr.isValid(withoutPort)) return address;
  const parsed = ipaddr.process(withoutPort);
  return parsed.kind() === 'ipv6' ? ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`).toString() : parsed.toString();
}

/** @returns what to say when there are too many */
async function countOne({ pool }: Databases['system'], { of, most, minutes }: Limit): Promise<ApiError | undefined> {
  const { rows }: { rows: { failures: number; seconds: number }[] } = await pool.query(count, [
    Buffer.from(sha256(of)),
    minutes,
  ]);
  const [{ failures, seconds } = { failures: 0, seconds: 0 }] = rows;
  return failures > most ? refused(seconds) : undefined;
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
  )
  INSERT INTO sign_in_failures AS f (counted, failures, since) VALUES ($1, 1, now())
  ON CONFLICT (counted) DO UPDATE SET
    failures = CASE WHEN f.since < now() - make_interval(mins => $2) THEN 1 ELSE f.failures + 1 END,
    since = CASE WHEN f.since < now() - make_interval(mins => $2) THEN now() ELSE f.since END
  RETURNING f.failures, ceil(extract(epoch FROM f.since + make_interval(mins => $2) - now()))::int AS seconds`;
