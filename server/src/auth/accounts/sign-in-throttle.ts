import ipaddr from 'ipaddr.js';
import { ApiError } from '../../shared/errors.ts';
import type { AccountStore } from './account.ts';
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
  /** Takes it back: it succeeds, or nobody looked at it. */
  takeBack(): Promise<void>;
  /** Takes back what counts against all who come from the same network: somebody has an account there. */
  takeBackOfNetwork(): Promise<void>;
}

interface Limit {
  /** What is counted. */
  of: string;
  /** Whether nobody is asked about it for a while where it is refused by far: then it isn't counted either. */
  rests?: boolean;
  most: number;
  minutes: number;
}

/**
 * Counts an attempt as failed, before it is looked at: those that are made at once are counted, too. What an address is
 * refused counts against nobody else, and takes no room.
 * @throws ApiError RATE_LIMIT_EXCEEDED when there were too many from the address, at all or for the account
 */
export async function countAttempt(
  { system }: Pick<AccountStore, 'system'>,
  { email, address }: Attempt,
): Promise<Counted> {
  const network = networkOf(address);
  const limits = [
    { of: `from ${network}`, most: 50, minutes: 15, rests: true },
    { of: `${email} from ${network}`, most: 10, minutes: 15, rests: true },
  ];
  for (const limit of limits) {
    const refusal = await countOne(system, limit);
    if (refusal !== undefined) throw refusal;
  }
  const everywhere = { of: `${email} from everywhere`, most: 100, minutes: 60 };
  const takeBack = async (taken: Limit[]) => {
    const counted = taken.map(({ of }) => Buffer.from(sha256(of)));
    await system.pool.query('UPDATE sign_in_failures SET failures = failures - 1 WHERE counted = ANY ($1)', [counted]);
  };
  return {
    refusal: await countOne(system, everywhere),
    takeBack: () => takeBack([...limits, everywhere]),
    takeBackOfNetwork: () => takeBack(limits.slice(0, 1)),
  };
}

/** How long nobody is asked about what is refused by far, and how many of those are kept in mind. Milliseconds. */
const restMs = 10_000;
const mostResting = 10_000;

/**
 * What is refused by far, and until when that needs no asking: a flood from one network waits for one row, on
 * connections that others need.
 */
class Resting {
  readonly #known = new Map<string, { until: number; refusal: ApiError }>();

  refusalOf(name: string): ApiError | undefined {
    const known = this.#known.get(name);
    if (known !== undefined && known.until > performance.now()) return known.refusal;
    this.#known.delete(name);
    return undefined;
  }

  add(name: string, refusal: ApiError): void {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= mostResting && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(name, { until: performance.now() + restMs, refusal });
  }
}

/** That of each database. */
const restings = new WeakMap<AccountStore['system'], Resting>();

/** An IPv6 subscriber has a network of addresses. What is no address, but was told by a proxy, is as good a name. */
function networkOf(address: string): string {
  const withoutPort = address.replace(/^\[(.*)\]:\d+$|^([\d.]+):\d+$/, '$1$2');
  if (!ipaddr.isValid(withoutPort)) return address;
  const parsed = ipaddr.process(withoutPort);
  return parsed.kind() === 'ipv6' ? ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`).toString() : parsed.toString();
}

/** @returns what to say when there are too many */
async function countOne(
  system: AccountStore['system'],
  { of, most, minutes, rests }: Limit,
): Promise<ApiError | undefined> {
  const resting = restings.get(system) ?? new Resting();
  restings.set(system, resting);
  const known = resting.refusalOf(of);
  if (known !== undefined) return known;
  const { rows }: { rows: { failures: number; seconds: number }[] } = await system.pool.query(count, [
    Buffer.from(sha256(of)),
    minutes,
  ]);
  const [{ failures, seconds } = { failures: 0, seconds: 0 }] = rows;
  if (failures <= most) return undefined;
  const refusal = refused(seconds);
  // Those that succeed at once are each counted before they are taken back: they are not as many.
  if (rests === true && failures > 2 * most && seconds * 1000 > restMs) resting.add(of, refusal);
  return refusal;
}

function refused(seconds: number): ApiError {
  const minutes = Math.max(1, Math.ceil(seconds / 60));
  const message = `Too many failed sign-ins. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, or use a passkey.`;
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
