import { invalidField } from '../../shared/errors.ts';
import { createWorkerPool } from '../../shared/worker-pool.ts';
import type { Account } from './account.ts';
import type { Estimate, EstimateInput } from './password-strength-worker.ts';

/**
 * The minimum zxcvbn score of a new password. Scores range from 0 to 4. A score of 3 means "safely unguessable": the
 * password is moderately protected if its hash is stolen.
 */
const minScore = 3;

/*
 * Runs zxcvbn in a worker thread, because checking a password with many substitutions can take half a second. The
 * zxcvbn dictionaries use several megabytes, so the server loads them only when a user sets a password.
 */
const estimate = createWorkerPool<EstimateInput, Estimate>({
  worker: new URL('./password-strength-worker.ts', import.meta.url),
  maxQueued: 50,
  maxPerTenant: 5,
  tooMany: () => 'Too many concurrent password checks. Retry in 5 seconds.',
  timeout: {
    maxMs: 5000,
    tooLong: () =>
      invalidField('VALIDATION_ERROR', 'password', 'takes too long to check. Choose a shorter password, or try again.'),
  },
  retryAfterSeconds: 5,
});

/**
 * Checks the strength of a new password.
 * @throws ApiError VALIDATION_ERROR at `password` if the password is easy to guess or the check times out. For a
 * password that is easy to guess, the message contains advice.
 * @throws ApiError RATE_LIMIT_EXCEEDED if too many checks are queued
 */
export async function checkStrength(password: string, { tenantId, name, email, workspace }: Account): Promise<void> {
  const known = [name, ...email.split(/[@.]/), workspace, 'itsm'];
  const { score, advice } = await estimate(tenantId, { password, known });
  if (score < minScore) throw invalidField('VALIDATION_ERROR', 'password', `is easily guessed. ${advice}`.trim());
}
