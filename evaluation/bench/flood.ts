import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { openInstallation } from '../../test/support/installation.ts';
import { spawnServer } from '../../test/support/server-process.ts';
import { addWorkspace, type Subscription, subscribe } from '../../test/support/subscribed-workspaces.ts';
import { type ClientResult, runClient } from './fairness/client.ts';
import { loadDeliveries } from './load.ts';

const subscriptions = 32;
const connections = 64;

export interface FloodResult {
  /** The latency of another workspace's requests without the flood (`alone`) and during the flood (`beside`). */
  alone: ClientResult;
  beside: ClientResult;
  /** The data rate at which the receivers sent responses, in megabytes per second. */
  receivedMBps: number;
}

/**
 * Measures the latency of one workspace's requests while the webhook receivers of another workspace send endless `103`
 * responses. Each receiver sends as fast as the server reads. The API and the worker run in one process.
 * @param seconds the duration of each measurement: without the flood, and during the flood
 */
export async function benchFlood({ seconds }: { seconds: number }): Promise<{ table: string; result: FloodResult }> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const limits = { WEBHOOK_HOST_CONCURRENCY: String(connections) };
    const { postgres, runtime, apiUrl, env } = await openInstallation(stops, {}, limits);
    const server = spawnServer({ ...env, ROLES: 'api,worker' });
    stops.push(async () => {
      server.child.kill('SIGTERM');
      await server.exited;
    });
    await server.ready;
    const other = await addWorkspace(runtime, 'other');
    const requests = [{ method: 'GET' as const, path: '/tickets?perPage=1', keys: [other.key] }];
    const load = (length: number) =>
      runClient({ url: apiUrl, requests, connections: 8, perSecond: 50, seconds: length });
    await load(3);
    const alone = await load(seconds);

    const receiver = fork(import.meta.filename, ['receive'], { execArgv: [] });
    stops.push(async () => receiver.kill());
    const [port] = (await once(receiver, 'message')) as [number];
    const flooding = await addWorkspace(runtime, 'flooding');
    const all: Subscription[] = [];
    for (let index = 0; index < subscriptions; index++) {
      const url = `http://127.0.0.1:${port}/${index}`;
      all.push(await subscribe(flooding, { name: `flood-${index}`, url, events: ['ticket.created'] }));
    }
    // Marks the URLs as verified, because an unverified URL gets at most 10 deliveries per minute.
    await runtime.prisma.webhookSubscription.updateMany({ data: { firstSucceededAt: new Date() } });
    await loadDeliveries(postgres.url, all, 200 * subscriptions);
    const beside = await load(seconds);
    receiver.send('report');
    const [bytes] = (await once(receiver, 'message')) as [number];
    const result = { alone, beside, receivedMBps: bytes / seconds / 1e6 };
    return { table: tableOf(result), result };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function tableOf({ alone, beside, receivedMBps }: FloodResult): string {
  const line = (name: string, { p50, p99, max, statuses }: ClientResult) =>
    `  ${name.padEnd(8)} p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${max.toFixed(1)} ms, ${JSON.stringify(statuses)}\n`;
  return `\n${line('alone', alone)}${line('beside', beside)}  flood    ${receivedMBps.toFixed(1)} MB/s\n`;
}

/** Sends 18-byte responses as fast as the server reads them. Reports the number of bytes sent. */
function receive(): void {
  const chunk = 'HTTP/1.1 103 E\r\n\r\n'.repeat(3640);
  let bytes = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('close', () => {
      bytes += socket.bytesWritten;
    });
    socket.once('data', () => {
      const more = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', more);
      more();
    });
  });
  process.on('message', () => process.send?.(bytes));
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

if (process.argv[2] === 'receive') receive();
