import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import type { Answer } from '../../../test/support/api.ts';
import { type Asked, kinds as allKinds, type Client, type Kind, pick } from './requests.ts';

/** The results since the previous call to `take`. */
interface Taken {
  requests: number;
  /** The latency of each request in milliseconds, measured from the scheduled time of the request. */
  took: number[];
}

export interface Load {
  take(): Taken;
  /**
   * The total number of unexpected responses by kind and status, such as `create: 500`. The status `none` means that a
   * request got no response.
   */
  unexpected: Record<string, number>;
  /**
   * The total number of requests that the concurrency limit rejected. Some rejections are expected if the machine is
   * too busy for the rate.
   */
  rejected(): number;
  /** Stops the requests. Resolves after the last response. */
  stop(): Promise<void>;
}

interface LoadOptions {
  url: string;
  clients: Client[];
  /**
   * A constant rate that doesn't depend on responses, or a number of concurrent senders that send as fast as possible.
   */
  pace: { perSecond: number } | { senders: number };
  /** The kinds of requests. Default: the mix of the soak test. */
  kinds?: readonly Kind[];
}

const patience = 30_000;
const maxConnections = 64;

/** Sends requests of all given kinds for all clients. */
export function startLoad({ url, clients, pace, kinds = allKinds }: LoadOptions): Load {
  // All kinds of requests, repeated in proportion to their shares.
  const deck = kinds.flatMap((kind) => Array.from({ length: Math.round(kind[0] * 10) }, () => kind));
  const agent = new Agent({ keepAlive: true, maxSockets: maxConnections });
  const unexpected: Record<string, number> = {};
  let taken: Taken = { requests: 0, took: [] };
  let count = 0;
  let rejected = 0;
  let stopped = false;

  async function send(dueAt: number): Promise<void> {
    const turn = count++;
    const client = clients[turn % clients.length] as Client;
    const [, name, make] = pick(deck);
    const sent = make(client, turn);
    const response = await ask(agent, url, sent, client.keys[turn % client.keys.length]).catch(() => undefined);
    taken.requests += 1;
    taken.took.push(performance.now() - dueAt);
    if (response?.text.includes('Too many concurrent requests for this workspace')) {
      rejected += 1;
    } else if (response === undefined || !isExpected(sent, response)) {
      const wrong = `${name}: ${response?.status ?? 'none'}`;
      unexpected[wrong] = (unexpected[wrong] ?? 0) + 1;
    } else if (sent.learn !== undefined) {
      sent.learn(response.body.data, response.body.meta);
    }
  }

  async function sendOneByOne(): Promise<void> {
    while (!stopped) await send(performance.now());
  }

  async function sendSteadily(perSecond: number): Promise<void> {
    const underWay = new Set<Promise<void>>();
    for (let dueAt = performance.now(); !stopped; dueAt += 1000 / perSecond) {
      const wait = dueAt - performance.now();
      if (wait > 0) await sleep(wait);
      const sent: Promise<void> = send(dueAt).finally(() => underWay.delete(sent));
      underWay.add(sent);
    }
    await Promise.all(underWay);
  }

  const sending =
    'perSecond' in pace
      ? sendSteadily(pace.perSecond)
      : Promise.all(Array.from({ length: pace.senders }, sendOneByOne));
  return {
    unexpected,
    rejected: () => rejected,
    take() {
      const all = taken;
      taken = { requests: 0, took: [] };
      return all;
    },
    async stop() {
      stopped = true;
      await sending;
      agent.destroy();
    },
  };
}

/** Returns true if a response is as expected. MCP responses have the status 200 even if a tool fails. */
function isExpected({ rejected }: Asked, { status, text }: Answer): boolean {
  if (rejected !== undefined) return status === rejected;
  return status >= 200 && status < 300 && !text.includes('"isError":true');
}

/** Sends a request. Adds the API key if the request has no other credentials. */
export async function ask(agent: Agent, url: string, sent: Asked, key = ''): Promise<Answer> {
  const { method, path, elsewhere, body, headers } = sent;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = {
      agent,
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        ...headers,
      },
      signal: AbortSignal.timeout(patience),
    };
    request(`${url}${elsewhere ? '' : pathPrefix}${path}`, options, resolve)
      .on('error', reject)
      .end(text);
  });
  const { statusCode: status = 0, headers: responseHeaders } = response;
  const responseText = (await buffer(response)).toString();
  return { status, headers: responseHeaders as Answer['headers'], text: responseText, body: parsed(responseText) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
