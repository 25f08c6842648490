import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import pg from 'pg';
import { type Percentiles, percentiles } from '../../test/support/percentiles.ts';
import type { Workspace } from '../../test/support/subscribed-workspaces.ts';
import type { Receivers } from './receiver.ts';

interface LatencyOptions {
  databaseUrl: string;
  apiUrl: string;
  workspaces: Workspace[];
  receivers: Receivers;
  perSecond: number;
  seconds: number;
}

/** The duration of the warm-up. The results exclude the warm-up. */
const warmUpSeconds = 2;

/**
 * Creates tickets over HTTP at a constant rate, without waiting for responses. Measures the time from PostgreSQL's
 * commit timestamp for a ticket to the receipt of its delivery. Returns the percentiles in milliseconds.
 */
export async function measureLatency(options: LatencyOptions): Promise<Percentiles> {
  const { databaseUrl, receivers, seconds } = options;
  await receivers.take();
  const began = Date.now();
  await createTickets(options, warmUpSeconds + seconds);
  const committed = await readCommits(databaseUrl, new Date(began + warmUpSeconds * 1000));
  const received = new Map<string, number>();
  for (const deadline = Date.now() + 60_000; ; await sleep(100)) {
    for (const [id, at] of await receivers.take()) if (!received.has(id)) received.set(id, at);
    if (committed.every(({ id }) => received.has(id))) break;
    if (Date.now() > deadline) throw new Error('Not all deliveries arrived within a minute.');
  }
  return percentiles(committed.map(({ id, at }) => (received.get(id) ?? Number.NaN) - at));
}

async function createTickets({ apiUrl, workspaces, perSecond }: LatencyOptions, seconds: number): Promise<void> {
  const responses: Promise<unknown>[] = [];
  let failure: unknown;
  const began = performance.now();
  for (let count = 0; count < perSecond * seconds; count++) {
    const wait = began + (count * 1000) / perSecond - performance.now();
    if (wait > 0) await sleep(wait);
    const workspace = workspaces[count % workspaces.length] as Workspace;
    responses.push(
      createTicket(apiUrl, workspace).catch((error) => {
        failure ??= error;
      }),
    );
  }
  await Promise.all(responses);
  if (failure !== undefined) throw failure;
}

async function createTicket(apiUrl: string, { key, userId }: Workspace): Promise<void> {
  const response = await fetch(`${apiUrl}${pathPrefix}/tickets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      title: 'VPN drops every ten minutes for everybody on the third floor',
      description: 'Since this morning the connection is lost about every ten minutes. '.repeat(4),
      type: 'INCIDENT',
      category: 'NETWORK',
      assigneeId: userId,
      customFields: { floor: 3, building: 'North' },
    }),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`The API returned ${response.status}: ${text}`);
}

/** Returns the events created since a given time, with their commit times in milliseconds since 1970. */
async function readCommits(databaseUrl: string, since: Date): Promise<{ id: string; at: number }[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string; at: number }>(
      `SELECT public_id AS id, (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000)::float8 AS at
       FROM events WHERE created_at >= $1`,
      [since],
    );
    return rows;
  } finally {
    await client.end();
  }
}
