import { Agent, request as httpRequest } from 'node:http';

/** A request to the API. */
export interface Request {
  method: string;
  /** The path, including the API prefix. */
  path: string;
  key?: string | undefined;
  headers?: Record<string, string>;
  /** The content of a file if it is text, otherwise a value to send as JSON. */
  body?: unknown;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The parsed body, or undefined if the response has no body, such as a 304 response. */
  // biome-ignore lint/suspicious/noExplicitAny: a command reads what its endpoint returns
  body: any;
}

// Uses all connections in turn, because the server closes idle connections. This process can't notice a closed
// connection while the model computes. A request on such a connection would get no response.
const agent = new Agent({ keepAlive: true, maxSockets: 256, scheduling: 'fifo' });
/** The request timeout, in milliseconds. */
const timeoutMs = 90_000;

/**
 * Sends a request once.
 * @returns the response, or undefined if the request gets no response
 */
export function send(apiUrl: string, { method, path, key, headers, body }: Request): Promise<Answer | undefined> {
  const isFile = typeof body === 'string';
  const text = body === undefined || isFile ? body : JSON.stringify(body);
  return new Promise((resolve) => {
    const sent = httpRequest(
      `${apiUrl}${path}`,
      {
        agent,
        method,
        timeout: timeoutMs,
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(text !== undefined && {
            'content-type': isFile ? 'text/plain' : 'application/json',
            'content-length': Buffer.byteLength(text),
          }),
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

export function closeConnections(): void {
  agent.destroy();
}
