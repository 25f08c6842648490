import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Data } from './data.ts';
import type { MeasuredPath } from './paths.ts';
import type { Measured } from './servers.ts';

/** The input for the load generator. */
export interface Job {
  url: string;
  connections: number;
  seconds: number;
  /** The number of requests to send. If set, the job has no warm-up and ignores `seconds`. */
  amount?: number;
  requests: { method: MeasuredPath['method']; path: string; headers: Record<string, string>; body?: string }[];
}

/** The results of the load generator. */
export interface Shot {
  /** The number of successful requests, including those during the one-second warm-up. */
  requests: number;
  rps: number;
  p50Ms: number;
  p99Ms: number;
  /** The number of failed requests, including those during the warm-up. */
  failed: number;
}

/** Returns the requests for a path. The requests use the tenant's API keys in turn. */
export function requestsOf(
  { method, paths, bodies, headers }: Omit<MeasuredPath, 'name'>,
  data: Data,
): Job['requests'] {
  const all = paths(data);
  const count = Math.min(Math.max(all.length, data.keys.length), 500);
  return Array.from({ length: count }, (_, i) => ({
    method,
    path: `/api/public/v1${all[i % all.length]}`,
    headers: {
      authorization: `Bearer ${data.keys[i % data.keys.length]}`,
      'content-type': 'application/json',
      ...headers,
    },
    ...(bodies && { body: JSON.stringify(bodies[i % bodies.length]) }),
  }));
}

/**
 * Runs the load generator in a separate process. Requests to the Prisma server may fail, because it counts many rows
 * and can time out.
 * @throws if a request to any other server fails
 */
export async function shoot({ name, url }: Measured, job: Omit<Job, 'url'>): Promise<Shot> {
  const program = fileURLToPath(new URL('./shoot.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify({ ...job, url })]);
  const shot = JSON.parse(stdout) as Shot;
  if (shot.failed > 0 && name !== 'plainStack')
    throw new Error(`${name} failed ${shot.failed} requests like ${job.requests[0]?.path}.`);
  return shot;
}
