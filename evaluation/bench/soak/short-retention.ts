import { registerHooks } from 'node:module';

/*
 * Import this file into a worker with `--import` to shorten the retention times. The worker then keeps deliveries for 5
 * minutes, idempotency responses for 6 minutes, and usage per minute for 3 minutes. The nightly job runs every five
 * minutes, and the hourly jobs run every minute. In an hour, the worker deletes as many rows as in months of
 * production. As in production, the last retry of a failed delivery runs within the retention time. Otherwise, pending
 * deliveries would keep their table pages in use.
 */
const changes: Record<string, [of: string, by: string][]> = {
  '/contract/src/delivery-schedule.ts': [
    [
      '5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour',
      Array(8).fill('10 * second').join(', '),
    ],
  ],
  '/server/src/webhooks/maintenance/delivery-retention.ts': [
    ["interval '1 day'", "interval '10 seconds'"],
    ['make_interval(days => ${keepDays})', 'make_interval(secs => 10 * ${keepDays})'],
  ],
  '/server/src/resources/idempotency/idempotency-retention.ts': [
    ['make_interval(hours => ${idempotencyHours})', 'make_interval(secs => 15 * ${idempotencyHours})'],
  ],
  '/server/src/usage/usage-retention.ts': [['make_interval(hours => ${hours})', 'make_interval(mins => ${hours})']],
  '/server/src/process/scheduled-jobs.ts': [
    ["'17 3 * * *'", "'*/5 * * * *'"],
    ["'43 * * * *'", "'* * * * *'"],
  ],
};

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const [, expected = []] = Object.entries(changes).find(([file]) => url.endsWith(file)) ?? [];
    let source = String(loaded.source);
    for (const [of, by] of expected) {
      if (!source.includes(of)) throw new Error(`${url} contains no ${of} to shorten.`);
      source = source.replaceAll(of, by);
    }
    return expected.length === 0 ? loaded : { ...loaded, source };
  },
});
