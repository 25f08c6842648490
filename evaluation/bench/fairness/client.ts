import { execFile } from 'node:child_process';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { percentiles } from '../../../test/support/percentiles.ts';

/** The requests that a client sends, with their rate and duration. */
export interface ClientJob {
  url: string;
  /** The requests that the client sends in turn. */
  requests: ClientRequest[];
  connections: number;
  /**
   * The number of requests per second, sent without waiting for responses. If not set, each connection sends the next
   * request as soon as it receives a response.
   */
  perSecond?: number;
  /** The time in seconds in which the client records latencies. The warm-up comes before. */
  seconds: number;
}

interface ClientRequest {
  method: 'GET' | 'POST';
  path: string;
  /** The API keys that the client uses in turn. */
  keys: string[];
  body?: string;
}

/** The results of a client. Latencies are in milliseconds and start at the scheduled time of each request. */
export interface ClientResult {
  /** The number of responses per status, including the warm-up. `none` counts requests without a response. */
  statuses: Record<string, number>;
  p50: number;
  p99: number;
  max: number;
}

/**
 * How long the client sends requests before it records latencies, in milliseconds. In this time, V8 compiles the
 * client's code, which takes longer if another client is running.
 */
const warmUpMs = 1000;

/** Runs a client in a separate process, so the client doesn't take CPU time from the measuring process. */
export async function runClient(job: ClientJob): Promise<ClientResult> {
  const child = promisify(execFile)(process.execPath, [import.meta.filename], { maxBuffer: 2 ** 24 });
  child.child.stdin?.end(JSON.stringify(job));
  return JSON.parse((await child).stdout) as ClientResult;
}

/** Runs a job. The child process calls this function. */
async function run({ url, requests, connections, perSecond, seconds }: ClientJob): Promise<ClientResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const statuses: Record<string, number> = {};
  const began = performance.now();
  const recordedFrom = began + warmUpMs;
  const end = recordedFrom + seconds * 1000;
  let count = 0;

  const send = async (dueAt: number) => {
    const status = await ask(agent, url, requests, count++).catch(() => 'none');
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (dueAt >= recordedFrom) times.push(performance.now() - dueAt);
  };
  const sendOver = async () => {
    while (performance.now() < end) await send(performance.now());
  };
  const sendSteadily = async (rate: number) => {
    const sent: Promise<void>[] = [];
    for (let dueAt = began; dueAt < end; dueAt += 1000 / rate) {
      const wait = dueAt - performance.now();
      if (wait > 0) await sleep(wait);
      sent.push(send(dueAt));
    }
    await Promise.all(sent);
  };
  if (perSecond === undefined) await Promise.all(Array.from({ length: connections }, sendOver));
  else await sendSteadily(perSecond);
  agent.destroy();

  return { statuses, ...percentiles(times) };
}

function ask(agent: Agent, url: string, requests: ClientRequest[], count: number): Promise<string> {
  const { method, path, keys, body } = requests[count % requests.length] as ClientRequest;
  const headers = {
    authorization: `Bearer ${keys[count % keys.length]}`,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const onAnswer = (response: IncomingMessage) => {
      response
        .resume()
        .on('end', () => resolve(String(response.statusCode)))
        .on('error', reject);
    };
    request(`${url}/api/public/v1${path}`, { agent, method, headers }, onAnswer).on('error', reject).end(body);
  });
}

if (process.argv[1] === import.meta.filename) {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  process.stdout.write(JSON.stringify(await run(JSON.parse(Buffer.concat(chunks).toString()) as ClientJob)));
}
