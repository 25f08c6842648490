import autocannon, { type Result } from 'autocannon';
import { percentiles } from '../../../test/support/percentiles.ts';
import type { Job, Shot } from './shots.ts';

/* The load generator reads a job as JSON from its first argument and prints the results as JSON. */
async function run({ seconds, amount, ...load }: Job): Promise<Shot> {
  if (amount !== undefined) return fire({ ...load, amount });
  // Warms up the load generator and the server. The request rate and the latencies exclude the warm-up.
  const warm = await fire({ ...load, duration: 1 });
  const shot = await fire({ ...load, duration: seconds });
  return { ...shot, requests: warm.requests + shot.requests, failed: warm.failed + shot.failed };
}

async function fire({ requests, connections, ...load }: Omit<Job, 'seconds'> & { duration?: number }): Promise<Shot> {
  const times: number[] = [];
  let clients = 0;
  // Each connection starts with a different path. Otherwise, all connections would send the same request
  // simultaneously.
  const setupClient = (client: autocannon.Client) => {
    const first = Math.floor((clients++ * requests.length) / connections);
    client.setRequests([...requests.slice(first), ...requests.slice(0, first)]);
  };
  const result = await new Promise<Result>((resolve, reject) => {
    autocannon({ ...load, connections, requests, idReplacement: true, setupClient }, (error, done) => {
      if (error) reject(error);
      else resolve(done);
    }).on('response', (_client, status, _bytes, milliseconds) => {
      if (status < 300) times.push(milliseconds);
    });
  });
  const { p50, p99 } = percentiles(times);
  return {
    requests: times.length,
    rps: times.length / result.duration,
    p50Ms: p50,
    p99Ms: p99,
    failed: result.non2xx + result.errors,
  };
}

const job = process.argv[2];
if (job !== undefined) process.stdout.write(JSON.stringify(await run(JSON.parse(job) as Job)));
