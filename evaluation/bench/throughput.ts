import { setTimeout as sleep } from 'node:timers/promises';
import { createAgent } from '@itsm-api/server/webhooks/delivery/http-agent.ts';
import { signatureHeaders } from '@itsm-api/server/webhooks/delivery/sign.ts';
import { createTargetPolicy } from '@itsm-api/server/webhooks/delivery/target.ts';
import pg from 'pg';
import type { Subscription } from '../../test/support/subscribed-workspaces.ts';
import { loadDeliveries, sampleBody } from './load.ts';

/**
 * Creates pending deliveries, and waits until the subscriptions in `healthy` have no pending deliveries. Then cancels
 * all other pending deliveries. Returns the number of deliveries per second since the first attempt.
 */
export async function measureThroughput(
  databaseUrl: string,
  { healthy, slow, count }: { healthy: Subscription[]; slow: Subscription[]; count: number },
): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: before } = await client.query('SELECT COALESCE(max(id), 0) AS last FROM deliveries');
    const last = before[0].last as string;
    await loadDeliveries(databaseUrl, [...healthy, ...slow], count);
    await untilDelivered(client, healthy, last);
    await client.query("UPDATE deliveries SET state = 'CANCELLED', settled_at = now() WHERE state = 'PENDING'");
    const { rows } = await client.query(
      `SELECT count(*) / extract(epoch FROM max(d.settled_at) - min(a.started_at)) AS rate,
         count(*) FILTER (WHERE d.subscription_id = ANY ($2)) AS healthy
       FROM deliveries d JOIN delivery_attempts a ON a.tenant_id = d.tenant_id AND a.delivery_id = d.id
       WHERE d.id > $1 AND d.state = 'DELIVERED'`,
      [last, healthy.map(({ id }) => id)],
    );
    const expected = (count * healthy.length) / (healthy.length + slow.length);
    if (Number(rows[0].healthy) !== expected) {
      throw new Error(`${rows[0].healthy} attempts were recorded instead of ${expected}`);
    }
    return Number(rows[0].rate);
  } finally {
    await client.end();
  }
}

async function untilDelivered(client: pg.Client, subscriptions: Subscription[], last: string): Promise<void> {
  const ids = subscriptions.map(({ id }) => id);
  for (;;) {
    const { rows } = await client.query(
      "SELECT FROM deliveries WHERE state = 'PENDING' AND subscription_id = ANY ($1) AND id > $2 LIMIT 1",
      [ids, last],
    );
    if (rows.length === 0) return;
    await sleep(100);
  }
}

/**
 * Sends POST requests with the worker's HTTP client and signatures, but without a database. Returns the number of
 * requests per second, which is the upper limit of the throughput.
 */
export async function measureCeiling(urls: string[], count: number, concurrency: number): Promise<number> {
  const agent = createAgent({ targets: createTargetPolicy({ allowPrivate: true, blockedNetworks: [] }) });
  const targets = urls.map((url) => new URL(url));
  let next = 0;
  const post = async () => {
    while (next < count) {
      const id = `evt_${next}`;
      const target = targets[next++ % targets.length] as URL;
      const { statusCode, body } = await agent.request({
        origin: target.origin,
        path: target.pathname,
        method: 'POST',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          ...signatureHeaders('a secret of the bench, long enough', { id, timestamp: new Date(), body: sampleBody }),
        },
        body: sampleBody,
      });
      await body.dump();
      if (statusCode !== 200) throw new Error(`The receiver returned ${statusCode}`);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: concurrency }, post));
  const seconds = (performance.now() - began) / 1000;
  await agent.close();
  return count / seconds;
}
