import autocannon, { type Result } from 'autocannon';
import type { Job, Shot } from './shots.ts';

/*
 * The load generator, in a process of its own: reads a job as JSON from its first argument, prints what came of it.
 */
async function run({ url, seconds, amount, connections, requests }: Job): Promise<Shot> {
  const times: number[] = [];
  const length = amount === undefined ? { duration: seconds } : { amount };
  const result = await new Promise<Result>((resolve, reject) => {
    autocannon({ url, connections, requests, ...length }, (error, done) => {
      if (error) reject(error);
      else resolve(done);
    }).on('response', (_client, _status, _bytes, milliseconds) => times.push(milliseconds));
  });
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return {
    requests: times.length,
    rps: times.length / result.duration,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failed: result.non2xx + result.errors,
  };
}

const job = process.argv[2];
if (job !== undefined) process.stdout.write(JSON.stringify(await run(JSON.parse(job) as Job)));
