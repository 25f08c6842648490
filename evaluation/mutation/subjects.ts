import { readFile } from 'node:fs/promises';

/** Code to mutate, and the tests that cover it. */
export interface Subject {
  /** The path of the file, relative to the repository root. */
  file: string;
  /** The names of the declarations to mutate. By default, Stryker mutates the whole file. */
  only?: string[];
  /** The paths of the test files, relative to `test/`. */
  tests: string[];
}

/** The code to mutate. It implements permissions, limits and deliveries, so a wrong operator has visible effects. */
export const subjects: Subject[] = [
  { file: 'server/src/http/auth/api-key-header.ts', tests: ['http/api-key.test.ts'] },
  { file: 'server/src/http/auth/guard.ts', tests: ['http/guard.test.ts', 'rules/limits.test.ts'] },
  { file: 'server/src/http/rate-limit/rate-limiter.ts', tests: ['http/guard.test.ts', 'rules/limits.test.ts'] },
  {
    file: 'server/src/http/rate-limit/rate-limit-windows.ts',
    tests: ['http/rate-limit-memory.test.ts', 'http/rate-limit-redis.test.ts', 'http/guard.test.ts'],
  },
  { file: 'server/src/http/rate-limit/redis-windows.ts', tests: ['http/rate-limit-redis.test.ts'] },
  { file: 'server/src/shared/limiters/tenant-limiter.ts', tests: ['rules/tenant-limiter.test.ts'] },
  {
    file: 'contract/src/resources/tickets.ts',
    only: ['TicketStatus', 'ticketTransitions'],
    tests: ['rules/transitions.test.ts'],
  },
  {
    file: 'server/src/resources/tickets/ticket-change.ts',
    only: ['merge', 'getStatusTimestamps'],
    tests: ['api/tickets.test.ts', 'api/tickets-patch.test.ts'],
  },
  { file: 'server/src/webhooks/delivery/circuit-breaker.ts', tests: ['webhooks/breaker.test.ts'] },
  { file: 'server/src/webhooks/delivery/retry-schedule.ts', tests: ['webhooks/schedule.test.ts'] },
  {
    file: 'server/src/webhooks/delivery/claim.ts',
    only: ['claimDue', 'recordLost'],
    tests: ['webhooks/claims.test.ts'],
  },
  {
    file: 'server/src/webhooks/delivery/record-results.ts',
    only: ['recordResults', 'toRecordedResults', 'toSignal'],
    tests: ['webhooks/claims.test.ts'],
  },
  { file: 'server/src/webhooks/delivery/record-health.ts', only: ['recordHealth'], tests: ['webhooks/claims.test.ts'] },
];

/** Returns the path of the file or its line ranges to mutate, in the format of Stryker's `mutate` option. */
export async function placesOf({ file, only }: Subject): Promise<string[]> {
  if (only === undefined) return [file];
  const lines = (await readFile(file, 'utf8')).split('\n');
  return only.map((name) => {
    const first = lines.findIndex((line) => new RegExp(`^(export )?(async )?(const|function) ${name}\\b`).test(line));
    const last = lines.findIndex((line, index) => index >= first && /^\S.*;$|^\}/.test(line));
    if (first === -1 || last === -1) throw new Error(`${file} has no declaration ${name}. Update subjects.ts.`);
    return `${file}:${first + 1}-${last + 1}`;
  });
}
