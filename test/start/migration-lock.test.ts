import { retryWhileLocked } from '@itsm-api/server/database/migrations/migration-lock.ts';
import type { ClientBase } from 'pg';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => void vi.useRealTimers());

it('keeps waiting for a migration lock when the system clock jumps ahead', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const client = { query: async () => ({ rows: [] }) } as unknown as ClientBase;
  let attempts = 0;
  const work = async () => {
    attempts++;
    if (attempts === 3) return 'done';
    vi.setSystemTime(Date.now() + 3_600_000);
    throw Object.assign(new Error('of this test'), { code: '55P03' });
  };
  expect(await retryWhileLocked(client, work)).toBe('done');
});
