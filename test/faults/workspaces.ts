import { type EventType, scopes } from '@itsm-api/contract';
import type { UserContext } from '@itsm-api/server/context.ts';
import { createKey } from '@itsm-api/server/identity/keys.ts';
import { createTenant, tenantContext } from '@itsm-api/server/resources/tenants/queries.ts';
import { createWebhook } from '@itsm-api/server/resources/webhooks/queries.ts';
import type { Runtime } from '@itsm-api/server/runtime.ts';

/** A tenant with a key that has all scopes. */
export interface Workspace {
  tenantId: bigint;
  userId: number;
  key: string;
  context: UserContext;
}

export interface Subscription {
  id: bigint;
  tenantId: bigint;
  /** The last part of its URL. */
  name: string;
  events: EventType[];
}

export async function addWorkspace(runtime: Runtime, name: string): Promise<Workspace> {
  const { tenant, admin } = await createTenant(runtime.prisma, { name, adminEmail: 'admin@example.com' });
  const tenantsOwn = await tenantContext(runtime, name);
  const allScopes = Object.keys(scopes) as (keyof typeof scopes)[];
  const { id, key } = await createKey(tenantsOwn, { user: admin.email, name: 'driver', scopes: allScopes });
  const context = { ...tenantsOwn, userId: BigInt(admin.id), keyId: BigInt(id) };
  return { tenantId: BigInt(tenant.id), userId: admin.id, key, context };
}

/** Subscribes a URL that ends with `/<name>`. */
export async function subscribe(
  { tenantId, context }: Workspace,
  { name, url, events }: { name: string; url: string; events: EventType[] },
): Promise<Subscription> {
  const { id } = await createWebhook(context, { url, secret: `a secret of ${name}, long enough`, events });
  return { id: BigInt(id), tenantId, name, events };
}
