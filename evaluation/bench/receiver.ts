import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The response time of an endpoint in milliseconds. An endpoint with 'never' accepts connections but never responds. An
 * endpoint with 'failing' rejects a fifth of the requests, and rejects all requests during two of every ten minutes.
 */
export type Delay = number | 'never' | 'failing';

/** A received delivery: its `webhook-id` and its time of arrival in milliseconds since 1970. */
type Receipt = [eventId: string, at: number];

/** Webhook receivers in a separate process, so they don't take CPU time from the measuring process. */
export interface Receivers {
  /** Opens one endpoint per delay, each on its own port. Returns the URLs. */
  open(delays: Delay[]): Promise<string[]>;
  /** Returns the deliveries received since the previous call. */
  take(): Promise<Receipt[]>;
  close(): void;
  /** The id of the process. */
  pid: number;
}

type Request = { open: Delay[] } | 'take';

export function startReceivers(): Receivers {
  const child = fork(import.meta.filename, { serialization: 'advanced', execArgv: [] });
  const ask = async <Answer>(request: Request): Promise<Answer> => {
    child.send(request);
    const [answer] = await once(child as ChildProcess, 'message');
    return answer as Answer;
  };
  return {
    open: (delays) => ask({ open: delays }),
    take: () => ask('take'),
    close: () => {
      child.disconnect();
    },
    pid: child.pid ?? 0,
  };
}

/** Runs in the child process and serves the endpoints. */
function serve(): void {
  let receipts: Receipt[] = [];

  const open = (delay: Delay) =>
    new Promise<string>((resolve) => {
      const server = createServer((request, response) => {
        request.resume().on('end', () => {
          receipts.push([String(request.headers['webhook-id']), Date.now()]);
          if (delay === 0) response.end();
          else if (delay === 'failing') response.writeHead(fails() ? 500 : 200).end();
          else if (delay !== 'never') setTimeout(() => response.end(), delay);
        });
      });
      server.keepAliveTimeout = 60_000;
      server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`));
    });

  process.on('message', async (request: Request) => {
    if (request === 'take') {
      process.send?.(receipts);
      receipts = [];
    } else {
      process.send?.(await Promise.all(request.open.map(open)));
    }
  });
  process.once('disconnect', () => process.exit(0));
}

function fails(): boolean {
  return Math.random() < 0.2 || Math.floor(Date.now() / 60_000) % 10 < 2;
}

if (process.argv[1] === import.meta.filename) serve();
