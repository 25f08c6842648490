import { Agent } from 'node:http';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import { createAsset } from '@itsm-api/server/resources/assets/queries.ts';
import { createProject } from '@itsm-api/server/resources/projects/queries.ts';
import type { Context } from '@itsm-api/server/resources/shared/context.ts';
import { createTask } from '@itsm-api/server/resources/tasks/queries.ts';
import { tenantContext } from '@itsm-api/server/resources/tenants/queries.ts';
import { createWebhook } from '@itsm-api/server/resources/webhooks/webhook-management.ts';
import { type TenantId, toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import type pg from 'pg';
import { signIn } from '../../../test/support/visitor.ts';
import { addKeys } from '../api/data.ts';
import type { Delay, Receivers } from '../receiver.ts';
import { ask } from './load.ts';
import type { Client } from './requests.ts';

interface ClientOptions {
  runtime: Runtime;
  client: pg.Client;
  apiUrl: string;
  receivers: Receivers;
  tenants: number;
}

/**
 * The response times of each tenant's webhook endpoints. No endpoint fails permanently, because the pending deliveries
 * of such an endpoint would keep index pages in use. The short retention makes this effect much larger than in
 * production.
 */
const endpoints: Delay[] = [0, 0, 2000, 'failing'];

/**
 * Creates a client for each of the first `tenants` tenants. Each client gets API keys, rows, subscriptions and a
 * session.
 */
export async function createClients({ tenants, ...options }: ClientOptions): Promise<Client[]> {
  const clients: Client[] = [];
  for (let tenantId = 1; tenantId <= tenants; tenantId++) clients.push(await createClient(options, tenantId));
  return clients;
}

async function createClient(
  { runtime, client, apiUrl, receivers }: Omit<ClientOptions, 'tenants'>,
  tenantId: number,
): Promise<Client> {
  const context = await tenantContext(runtime, String(tenantId));
  const keys = await addKeys(client, tenantId);
  const idsOf = async (table: 'users' | 'tickets') => {
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM ${table} WHERE tenant_id = $1 ORDER BY random() LIMIT 500`,
      [tenantId],
    );
    return rows.map(({ id }) => Number(id));
  };
  const [users, tickets] = [await idsOf('users'), await idsOf('tickets')];
  const asset = await createAsset(context, { name: 'Laptop', assetTag: 'LT-1', type: 'LAPTOP' });
  const project = await createProject(context, { key: 'OFFICE', name: 'New office' });
  const task = await createTask(context, project.id, { title: 'Order cables' });
  await client.query("UPDATE users SET role = 'ADMIN' WHERE tenant_id = $1 AND id = $2", [tenantId, users[0]]);
  return {
    keys,
    users,
    tickets,
    open: [],
    assets: [asset.id],
    projectId: project.id,
    tasks: [task.id],
    webhookId: await subscribeAll(context, receivers),
    cursor: undefined,
    response: undefined,
    visitor: await enter(runtime, apiUrl, { tenantId: toTenantId(tenantId), userId: users[0] as number }),
  };
}

/** Creates a tenant's subscriptions. Returns the id of a subscription with a healthy endpoint. */
async function subscribeAll(context: Context, receivers: Receivers): Promise<number> {
  const secret = 'a secret, long enough for all';
  const urls = await receivers.open(endpoints);
  const ids: number[] = [];
  for (const url of urls) {
    ids.push((await createWebhook(context, { url, secret, events: ['ticket.created', 'ticket.updated'] })).id);
  }
  return ids[0] as number;
}

/** Signs a user in to the developer area. The requests use the host `localhost`. */
async function enter(runtime: Runtime, apiUrl: string, user: { tenantId: TenantId; userId: number }) {
  const agent = new Agent();
  const api = {
    databases: runtime.databases,
    call: ({ method, path, headers, body }: Parameters<Parameters<typeof signIn>[0]['call']>[0]) =>
      ask(agent, apiUrl, {
        method: method as 'GET',
        path,
        elsewhere: true,
        ...(body === undefined ? {} : { body: body as string }),
        headers: { ...headers, host: 'localhost' },
      }),
  };
  return signIn(api, user);
}
