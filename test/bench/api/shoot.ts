import autocannon, { type Result } from 'autocannon';

/*
 * The load generator, in a process of its own: reads a job as JSON from its first argument, prints what came of it.
 */
export interface Job {
  url: string;
  seconds: number;
  connections: number;
  requests: { method: 'GET' | 'POST' | 'PATCH'; path: string; headers: Record<string, string>; body?: string }[];
}

export interface Shot {
  requests: number;
  rps: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers that were no success. */
  failed: number;
}

async function shoot({ url, seconds, connections, requests }: Job): Promise<Shot> {
  const times: number[] = [];
  const result = await new Promise<Result>((resolve, reject) => {
    autocannon({ url, connections, duration: seconds, requests }, (error, done) => {
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
if (job !== undefined) process.stdout.write(JSON.stringify(await shoot(JSON.parse(job) as Job)));
