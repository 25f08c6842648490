import { type EventType, type NewWebhook, scopes, type WebhookFilter } from '@itsm-api/contract';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import type { UserContext } from '@itsm-api/server/resources/shared/context.ts';
import { createTenant, tenantContext } from '@itsm-api/server/resources/tenants/queries.ts';
import { createWebhook } from '@itsm-api/server/resources/webhooks/webhook-management.ts';
import { type TenantId, toTenantId } from '@itsm-api/server/shared/tenant-id.ts';

/** A tenant with an API key that has all scopes. */
export interface Workspace {
  tenantId: TenantId;
  userId: number;
  key: string;
  /** The context of the user, with the id of the API key. */
  context: UserContext;
}

/** A secret of a subscription, and when the server confirmed the secret, in milliseconds since 1970. */
export interface Secret {
  secret: string;
  since: number;
}

export interface Subscription {
  id: bigint;
  tenantId: TenantId;
  /** The name of the subscription, which is the last segment of its URL. */
  name: string;
  events: EventType[];
  filter?: WebhookFilter;
  /** The ids of the API keys whose changes the subscription skips. */
  skipped: number[];
  /** The secrets of the subscription, oldest first. */
  secrets: Secret[];
}

export async function addWorkspace(runtime: Runtime, name: string): Promise<Workspace> {
  const { tenant, admin } = await createTenant(runtime.prisma, { name, adminEmail: 'admin@example.com' });
  const tenantsOwn = await tenantContext(runtime, name);
  const { id, key } = await createKey(tenantsOwn, { user: admin.email, name: 'driver', scopes: allScopes });
  const context = { ...tenantsOwn, userId: BigInt(admin.id), keyId: BigInt(id) };
  return { tenantId: toTenantId(tenant.id), userId: admin.id, key, context };
}

const allScopes = Object.keys(scopes) as (keyof typeof scopes)[];

/** Creates another API key. If `rotated` is true, the key is a rotation of the workspace's first key. */
export async function addKey(
  { context }: Workspace,
  { rotated }: { rotated: boolean },
): Promise<{ id: number; key: string }> {
  const added = await createKey(context, { user: 'admin@example.com', name: 'another', scopes: allScopes });
  if (rotated) {
    await context.db.apiKey.updateMany({ where: { id: added.id }, data: { rotatedFrom: context.keyId } });
  }
  return added;
}

interface Subscribing extends Pick<NewWebhook, 'url' | 'events' | 'skipOwn'> {
  name: string;
  filter?: WebhookFilter;
  /** The ids of the API keys whose changes the subscription skips because of `skipOwn`. */
  own?: number[];
}

/** Creates a subscription to a URL that ends with `/<name>`. */
export async function subscribe(
  { tenantId, context }: Workspace,
  { name, own = [], ...expected }: Subscribing,
): Promise<Subscription> {
  const secret = `a secret of ${name}, long enough`;
  const { id } = await createWebhook(context, { ...expected, secret });
  const { events, filter } = expected;
  return {
    id: BigInt(id),
    tenantId,
    name,
    events,
    ...(filter && { filter }),
    skipped: own,
    secrets: [{ secret, since: Date.now() }],
  };
}
