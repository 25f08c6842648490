import { ApiError } from '@itsm-api/server/shared/errors.ts';
import { toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { createWorkerPool } from '@itsm-api/server/shared/worker-pool.ts';
import { expect, it } from 'vitest';

it('runs the next task after a task exceeds the timeout of the worker pool', async () => {
  const run = createWorkerPool<boolean, string>({
    worker: new URL('endless-worker.ts', import.meta.url),
    ...{ maxQueued: 1, maxPerTenant: 1, retryAfterSeconds: 5 },
    tooMany: (count) => `more than ${count}`,
    timeout: { maxMs: 300, tooLong: () => new ApiError('VALIDATION_ERROR', 'too long') },
  });
  const endless = expect(run(toTenantId(1), false)).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: 'too long',
  });
  const rejected = { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 5, message: 'more than 1' };
  await expect(run(toTenantId(1), true)).rejects.toMatchObject(rejected);
  const behind = run(toTenantId(2), true);
  await endless;
  expect(await behind).toBe('done');
  expect(await run(toTenantId(1), true)).toBe('done');
});
