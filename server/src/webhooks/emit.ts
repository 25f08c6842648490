import { randomBytes } from 'node:crypto';
import { type Changes, type EventPayload, type EventType, events } from '@itsm-api/contract';
import type { TenantClient } from '../data/tenant.ts';

/** What happened: the resource as the API answers it and, on an update, what changed. */
export interface Emission<Type extends EventType> {
  payload: EventPayload<Type>;
  changes?: Changes;
}

/**
 * Writes a public event to the outbox (spec §6): the event, its body serialised once, and a delivery for each active
 * subscription that wants it. To be called with the context of the transaction that makes the change, so that both
 * are committed or neither is. Who matches is read in that transaction.
 */
export async function emit<Type extends EventType>(
  { db, now }: { db: TenantClient; now(): Date },
  type: Type,
  { payload, changes }: Emission<Type>,
): Promise<void> {
  const subscriptions = await db.webhookSubscription.findMany({
    where: { active: true, events: { has: type } },
    select: { id: true },
  });
  if (subscriptions.length === 0) return;

  const publicId = `evt_${randomBytes(16).toString('hex')}`;
  const body = JSON.stringify({
    id: publicId,
    type,
    timestamp: now().toISOString(),
    [events[type].key]: payload,
    ...(changes && { changes }),
  });
  const event = await db.event.create({ data: { publicId, type, body }, select: { id: true } });
  await db.delivery.createMany({
    data: subscriptions.map((subscription) => ({ subscriptionId: subscription.id, eventId: event.id })),
  });
}
