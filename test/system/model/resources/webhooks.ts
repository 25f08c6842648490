import type { EventType, NewWebhook, Ticket, Webhook, WebhookPatch } from '@itsm-api/contract';
import { unknownId, unknownText } from '../values.ts';
import { isSame, type Mutation, type Outcome } from './rows.ts';

/*
 * Models subscriptions and the events that they match (docs/decisions/webhook-subscriptions.md, webhook-deliveries.md).
 */

type DeliveryHealth =
  | 'etag'
  | 'health'
  | 'nextAttemptAt'
  | 'lastSuccessAt'
  | 'lastFailureAt'
  | 'pausedAt'
  | 'pausedReason';

/**
 * A subscription in the model. It has values that no response contains, such as the secret. It has no delivery health and
 * no ETag, because deliveries change them.
 */
export interface Subscription extends Omit<Webhook, DeliveryHealth> {
  secret: string;
  paused: boolean;
  /** The id of the API key that created the subscription. */
  keyId: number;
}

export function newSubscription(input: NewWebhook & { secret: string }, keyId: number): Outcome<Subscription> {
  const row = {
    id: unknownId,
    url: input.url,
    events: [...new Set(input.events)],
    filter: input.filter ?? null,
    skipOwn: input.skipOwn ?? false,
    active: true,
    createdAt: unknownText,
    updatedAt: unknownText,
    secret: input.secret,
    paused: input.paused ?? false,
    keyId,
  };
  return isFilterOf(row) ? { row } : { codes: ['VALIDATION_ERROR'] };
}

/**
 * Returns true if every event type of a subscription has the fields that the filter uses. Filters in the model use only
 * the priority, which assets don't have, and the tags, which tasks don't have.
 */
function isFilterOf({ events, filter }: Pick<Subscription, 'events' | 'filter'>): boolean {
  if (filter === null) return true;
  return (
    !('priority' in filter && events.includes('asset.created')) &&
    !('tags' in filter && events.includes('task.updated'))
  );
}

/** Applies a patch to a subscription. Returns NOT_FOUND for a deactivated subscription. */
export function changeSubscription(before: Subscription, { events, ...fields }: WebhookPatch): Outcome<Subscription> {
  if (!before.active) return { codes: ['NOT_FOUND'] };
  const after = { ...before, ...fields, ...(events && { events: [...new Set(events)] }) };
  if (!isFilterOf(after)) return { codes: ['VALIDATION_ERROR'] };
  return { row: isSame(before, after) ? before : { ...after, updatedAt: unknownText } };
}

export function deactivated(before: Subscription): Subscription {
  return before.active ? { ...before, active: false, updatedAt: unknownText } : before;
}

/** Converts a subscription in a response to the fields that the model predicts. */
export function select(webhook: Webhook) {
  const { etag, health, nextAttemptAt, lastSuccessAt, lastFailureAt, pausedAt, pausedReason, ...fields } = webhook;
  return { ...fields, paused: pausedAt !== null };
}

export type Resource = 'tickets' | 'assets' | 'tasks';

/** Returns the event type of a change, or undefined if the change has no event (spec §6). */
export function eventOf(
  resource: Resource,
  { action, actor, isSilent, after }: Mutation<object>,
): EventType | undefined {
  const isForm = action === 'CREATED' && (after as Partial<Ticket>).formKey != null;
  if (isSilent || (actor?.import && !isForm)) return undefined;
  if (resource === 'tickets') return action === 'CREATED' ? 'ticket.created' : 'ticket.updated';
  if (resource === 'assets') return action === 'CREATED' ? 'asset.created' : undefined;
  return action === 'CREATED' ? undefined : 'task.updated';
}

/**
 * Returns true if a subscription matches an event. The event type and the filter must match. If `skipOwn` is set,
 * changes by the subscription's own key, or by keys that replaced it, don't match.
 * @param line the id of the key that made the change, and the ids of the keys that it replaced in rotations
 */
export function takes(
  { active, events, filter, skipOwn, keyId }: Subscription,
  type: EventType,
  { after, changes }: Mutation<object>,
  line: readonly number[],
): boolean {
  const row = after as Record<string, unknown>;
  return (
    active &&
    events.includes(type) &&
    !(skipOwn && line.includes(keyId)) &&
    Object.entries(filter ?? {}).every(([name, values]) => {
      const reported = [row[name], ...(name in changes ? [changes[name]?.from] : [])];
      return reported.flat().some((value) => (values as unknown[]).includes(value));
    })
  );
}
