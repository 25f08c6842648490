import type { EventType, NewWebhook, Webhook, WebhookPatch } from '@itsm-api/contract';
import { untold, untoldId } from '../values.ts';
import { type Deed, isSame, type Outcome } from './rows.ts';

/*
 * Subscriptions, and which events they take (docs/decisions/webhook-subscriptions.md, webhook-deliveries.md).
 */

type DeliveryHealth = 'health' | 'nextAttemptAt' | 'lastSuccessAt' | 'lastFailureAt' | 'pausedAt' | 'pausedReason';

/** A subscription without what its deliveries make of it, and with what no answer holds. */
export interface Subscription extends Omit<Webhook, DeliveryHealth> {
  secret: string;
  paused: boolean;
  /** The key that made it. */
  keyId: number;
}

export function newSubscription(input: NewWebhook & { secret: string }, keyId: number): Outcome<Subscription> {
  const row = {
    id: untoldId,
    url: input.url,
    events: [...new Set(input.events)],
    filter: input.filter ?? null,
    skipOwn: input.skipOwn ?? false,
    active: true,
    createdAt: untold,
    updatedAt: untold,
    secret: input.secret,
    paused: false,
    keyId,
  };
  return isFilterOf(row) ? { row } : { codes: ['VALIDATION_ERROR'] };
}

/** Whether all events of a subscription have the fields of its filter. The model's filters name the priority alone. */
function isFilterOf({ events, filter }: Pick<Subscription, 'events' | 'filter'>): boolean {
  return filter === null || !('priority' in filter) || !events.includes('asset.created');
}

/** What a patch makes of a subscription: one that was deactivated is not there for it. */
export function changeSubscription(before: Subscription, { events, ...fields }: WebhookPatch): Outcome<Subscription> {
  if (!before.active) return { codes: ['NOT_FOUND'] };
  const after = { ...before, ...fields, ...(events && { events: [...new Set(events)] }) };
  if (!isFilterOf(after)) return { codes: ['VALIDATION_ERROR'] };
  return { row: isSame(before, after) ? before : { ...after, updatedAt: untold } };
}

export function deactivated(before: Subscription): Subscription {
  return before.active ? { ...before, active: false, updatedAt: untold } : before;
}

/** What of a subscription an answer tells. */
export function toldOf(webhook: Webhook) {
  const { health, nextAttemptAt, lastSuccessAt, lastFailureAt, pausedAt, pausedReason, ...fields } = webhook;
  return { ...fields, paused: pausedAt !== null };
}

export type Resource = 'tickets' | 'assets' | 'tasks';

/** The event of something that was done; undefined where nobody is told of it (spec §6). */
export function eventOf(resource: Resource, { action }: Pick<Deed<unknown>, 'action'>): EventType | undefined {
  if (resource === 'tickets') return action === 'CREATED' ? 'ticket.created' : 'ticket.updated';
  if (resource === 'assets') return action === 'CREATED' ? 'asset.created' : undefined;
  return action === 'CREATED' ? undefined : 'task.updated';
}

/**
 * Whether a subscription takes an event: by its type, by the fields that its filter names, as they are or were before the
 * change, and unless its own key did it, or one that was rotated from that.
 * @param line the key that did it, and those that it was rotated from
 */
export function takes(
  { active, events, filter, skipOwn, keyId }: Subscription,
  type: EventType,
  { after, changes }: Deed<object>,
  line: readonly number[],
): boolean {
  const row = after as Record<string, unknown>;
  return (
    active &&
    events.includes(type) &&
    !(skipOwn && line.includes(keyId)) &&
    Object.entries(filter ?? {}).every(([name, values]) => {
      const told = [row[name], ...(name in changes ? [changes[name]?.from] : [])];
      return told.some((value) => (values as unknown[]).includes(value));
    })
  );
}
