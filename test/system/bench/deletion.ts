import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import type { Percentiles } from '../../support/percentiles.ts';
import { steadyPort } from '../../support/postgres-server.ts';
import { addWorkspace, type Subscription, subscribe, type Workspace } from '../../support/subscribed-workspaces.ts';
import { loadDeliveries } from './load.ts';

/** The cost of deleting a subscription with many pending deliveries. */
export interface Deletion {
  /** The response time of the DELETE request, in milliseconds. */
  request: number;
  /**
   * The time in seconds until workers have cancelled all pending deliveries. For most of this time, the server has no
   * other load.
   */
  cancelled: number;
  /** The latency of other deliveries during the deletion. */
  others: Percentiles;
}

interface DeletionOptions {
  runtime: Runtime;
  databaseUrl: string;
  apiUrl: string;
  /** The name of the workspace that the benchmark creates. */
  name: string;
  pending: number;
  /** Measures the latency of deliveries to other subscriptions during the DELETE request and for some time after it. */
  measureOthers(): Promise<Percentiles>;
}

/** Sends a DELETE request for a subscription with many pending deliveries while the server sends other deliveries. */
export async function measureDeletion(options: DeletionOptions): Promise<Deletion> {
  const { runtime, databaseUrl, apiUrl, name, pending, measureOthers } = options;
  const workspace = await addWorkspace(runtime, name);
  const url = `http://127.0.0.1:${await steadyPort()}/hook`;
  const subscription = await subscribe(workspace, { name, url, events: ['ticket.created'] });
  await loadDeliveries(databaseUrl, [subscription], pending);
  const measuring = measureOthers();
  await sleep(4000);
  const began = performance.now();
  await deleteSubscription(apiUrl, workspace, subscription);
  const request = performance.now() - began;
  const others = await measuring;
  await untilCancelled(runtime, subscription);
  return { request, cancelled: (performance.now() - began) / 1000, others };
}

async function deleteSubscription(apiUrl: string, { key }: Workspace, { id }: Subscription): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${apiUrl}${pathPrefix}/webhooks/${id}`, { method: 'DELETE', headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`The API returned ${response.status}: ${text}`);
}

async function untilCancelled({ prisma }: Runtime, { tenantId, id }: Subscription): Promise<void> {
  const where = { tenantId, subscriptionId: id, state: 'PENDING' } as const;
  while ((await prisma.delivery.findFirst({ where, select: { id: true } })) !== null) await sleep(200);
}
