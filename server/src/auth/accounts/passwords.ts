import type { Options } from '@node-rs/argon2';
import PQueue from 'p-queue';
import { ApiError } from '../../shared/errors.ts';
import { lazy } from '../../shared/lazy.ts';

/** Argon2id with the parameters that OWASP recommends: 19 MiB, 2 passes, 1 lane. */
const options: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

// The queue computes one hash at a time. Hashing therefore uses at most one core and 19 MiB, even with many concurrent
// sign-ins.
const queue = new PQueue({ concurrency: 1 });
/** The maximum number of queued hash computations. The server computes 100 hashes in about 4 seconds. */
const maxQueued = 100;

const argon2 = lazy(() => import('@node-rs/argon2'));

/** Returns the hash of a password as a PHC string. */
export function hashPassword(password: string): Promise<string> {
  return enqueue(async () => (await argon2()).hash(password, options));
}

/**
 * Returns whether a password matches a hash. If `hash` is undefined, compares the password with a dummy hash, so that
 * the call takes equally long, and returns false.
 */
export async function isPassword(password: string, hash: string | undefined): Promise<boolean> {
  const expected = hash ?? (await dummyHash());
  const isMatch = await enqueue(async () => (await argon2()).verify(expected, password));
  return isMatch && hash !== undefined;
}

/** Adds a hash computation to the queue. @throws ApiError RATE_LIMIT_EXCEEDED if too many computations are queued */
function enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
  if (queue.size < maxQueued) return queue.add(work);
  const message = 'Too many concurrent sign-ins with a password. Retry in 5 seconds, or use a passkey.';
  throw new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: 5 });
}

const dummyHash = lazy(async () => (await argon2()).hash('no account has this password', options));
