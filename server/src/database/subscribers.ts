import type { EventType } from '@itsm-api/contract';
import { Prisma } from './generated/client.ts';

/** The condition that no active subscription wants an event: asked in the very statement that makes the change. */
export function noSubscriber(tenantId: bigint, type: EventType): Prisma.Sql {
  return Prisma.sql`NOT EXISTS (
    SELECT FROM webhook_subscriptions WHERE tenant_id = ${tenantId} AND active AND events @> ARRAY[${type}])`;
}
