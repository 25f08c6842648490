import type { Options } from '@node-rs/argon2';
import PQueue from 'p-queue';
import { ApiError } from '../../shared/errors.ts';
import { lazy } from '../../shared/lazy.ts';

/** Argon2id as OWASP recommends it: 19 MiB, 2 passes, 1 lane. */
const options: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** However many sign in at once, hashing takes one core and 19 MiB. */
const turns = new PQueue({ concurrency: 1 });
/** Hashes that may wait: of about four seconds. */
const longestQueue = 100;

const argon2 = lazy(() => import('@node-rs/argon2'));

/** What is stored of a password: a PHC string. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(async () => (await argon2()).hash(password, options));
}

/** Whether it is the password of the hash. Without a hash it takes as long, and it is not. */
export async function isPassword(password: string, hash: string | undefined): Promise<boolean> {
  const against = hash ?? (await nobodys());
  const is = await inTurn(async () => (await argon2()).verify(against, password));
  return is && hash !== undefined;
}

/** @throws ApiError RATE_LIMIT_EXCEEDED while too many wait */
function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (turns.size < longestQueue) return turns.add(work);
  const message = 'Too many concurrent sign-ins with a password. Retry in 5 seconds, or use a passkey.';
  throw new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: 5 });
}

const nobodys = lazy(async () => (await argon2()).hash('nobody has it', options));
