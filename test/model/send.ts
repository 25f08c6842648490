import { Agent, request as httpRequest } from 'node:http';

/** A request of the API. */
export interface Request {
  method: string;
  /** With the prefix of the version. */
  path: string;
  key?: string | undefined;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The envelope; undefined where there is none, as on a 304. */
  // biome-ignore lint/suspicious/noExplicitAny: a command reads what its endpoint answers, and what is not there is a finding
  body: any;
}

// First in, first out: none stands idle until the server closes it. One that the server closes while the model reckons,
// and this process sees nothing, would be used once more, and get no answer.
const agent = new Agent({ keepAlive: true, maxSockets: 256, scheduling: 'fifo' });
/** What isn't answered for so long is not going to be. Milliseconds. */
const patience = 90_000;

/** Sends a request once. @returns undefined where no answer came */
export function send(apiUrl: string, { method, path, key, headers, body }: Request): Promise<Answer | undefined> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve) => {
    const sent = httpRequest(
      `${apiUrl}${path}`,
      {
        agent,
        method,
        timeout: patience,
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
      },
      (response) => {
        let received = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          received += chunk;
        });
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed(received) });
        });
        response.on('error', () => resolve(undefined));
        response.on('aborted', () => resolve(undefined));
      },
    );
    sent.on('error', () => resolve(undefined));
    sent.on('timeout', () => sent.destroy());
    sent.end(text);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Ends the connections that are kept for later. */
export function closeConnections(): void {
  agent.destroy();
}
