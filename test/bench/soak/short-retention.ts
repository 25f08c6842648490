import { registerHooks } from 'node:module';

/*
 * `--import` of a worker whose days take ten seconds where it looks what is too old, and which looks all the time: in an hour
 * it deletes as much as in months. Deliveries are kept for 5 minutes, answers for 6, counts of minutes for 3. What fails is sent
 * again within that time, as it is within 30 days: what waits for longer than others are kept keeps their room.
 */
const changes: Record<string, [of: string, by: string][]> = {
  '/contract/src/delivery-schedule.ts': [
    [
      '5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour',
      Array(8).fill('10 * second').join(', '),
    ],
  ],
  '/server/src/webhooks/retention.ts': [["interval '1 day'", "interval '10 seconds'"]],
  '/server/src/resources/idempotency-retention.ts': [["interval '1 hour'", "interval '15 seconds'"]],
  '/server/src/usage/retention.ts': [["} hours'", "} minutes'"]],
  '/server/src/database/jobs.ts': [
    ["'17 3 * * *'", "'*/5 * * * *'"],
    ["'43 * * * *'", "'* * * * *'"],
  ],
};

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const [, wanted = []] = Object.entries(changes).find(([file]) => url.endsWith(file)) ?? [];
    let source = String(loaded.source);
    for (const [of, by] of wanted) {
      if (!source.includes(of)) throw new Error(`${url} holds no ${of} to be shortened.`);
      source = source.replaceAll(of, by);
    }
    return wanted.length === 0 ? loaded : { ...loaded, source };
  },
});
