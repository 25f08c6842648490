import { execFile } from 'node:child_process';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { percentiles } from '../../support/percentiles.ts';

/** What a client sends, and for how long. */
export interface ClientJob {
  url: string;
  /** In turn. */
  requests: ClientRequest[];
  connections: number;
  /** At a steady rate, whether the last ones have been answered or not; else each connection as fast as it can. */
  perSecond?: number;
  seconds: number;
}

interface ClientRequest {
  method: 'GET' | 'POST';
  path: string;
  /** Keys in turn. */
  keys: string[];
  body?: string;
}

/** What it was answered. Times are milliseconds from the moment when a request was due. */
export interface ClientResult {
  /** How many answers of each status; `none` counts those that did not come. */
  statuses: Record<string, number>;
  p50: number;
  p99: number;
  max: number;
}

/** Has a client run in a process of its own, so that it takes no time of the one that measures. */
export async function runClient(job: ClientJob): Promise<ClientResult> {
  const child = promisify(execFile)(process.execPath, [import.meta.filename], { maxBuffer: 2 ** 24 });
  child.child.stdin?.end(JSON.stringify(job));
  return JSON.parse((await child).stdout) as ClientResult;
}

/** What the other process does: it is started from this same file. */
async function run({ url, requests, connections, perSecond, seconds }: ClientJob): Promise<ClientResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const statuses: Record<string, number> = {};
  const began = performance.now();
  const end = began + seconds * 1000;
  let count = 0;

  const send = async (dueAt: number) => {
    const status = await ask(agent, url, requests, count++).catch(() => 'none');
    times.push(performance.now() - dueAt);
    statuses[status] = (statuses[status] ?? 0) + 1;
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
    const onAnswer = (answer: IncomingMessage) => {
      answer
        .resume()
        .on('end', () => resolve(String(answer.statusCode)))
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
