import { randomBytes } from 'node:crypto';
import {
  type Changes,
  type EventComment,
  type EventPayload,
  type EventType,
  events,
  filterLimits,
} from '@itsm-api/contract';
import { type Parameter, sql, tenant } from '../../database/client/sql.ts';
import { type Bound, rows } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { type ActorContext, actorOf } from '../../shared/actor.ts';
import type { DispatchJobs } from './dispatch-jobs.ts';

/** What `emit` needs from the transaction that makes the change. */
export interface Emitter extends ActorContext {
  db: TenantClient;
  /** The API key of the request. Undefined on the command line. */
  keyId?: bigint | undefined;
  dispatchJobs: DispatchJobs;
  /** Registers a callback that runs after the commit. */
  afterCommit(action: () => void): void;
  /** Notifies the workers of all processes that there are new deliveries. */
  wakeWorkers(): void;
  /**
   * Returns the current W3C `traceparent`. It becomes the parent of the spans of delivery attempts
   * (docs/decisions/observability.md). Undefined if tracing is off.
   */
  traceParent?: (() => string | undefined) | undefined;
}

/** The content of an event: the resource as the API returns it. For an update, also the changes. */
export interface Emission<Type extends EventType> {
  payload: EventPayload<Type>;
  changes?: Changes;
  /** The new comment of a ticket. */
  comment?: EventComment;
  /**
   * When the event happened. Default: the resource's `updatedAt`. Receivers compare timestamps to find the latest
   * version of a resource.
   */
  timestamp?: string;
  /** The event's public id, which receivers see. Default: a generated id. */
  publicId?: string;
}

/** Writes one public event to the outbox. See `emitAll`. */
export function emit<Type extends EventType>(
  emitter: Emitter,
  type: Type,
  { onlyTo, ...emission }: Emission<Type> & { onlyTo?: bigint },
): Promise<void> {
  return emitAll(emitter, type, [emission], onlyTo);
}

/**
 * Writes public events to the outbox, in order (spec §6). Inserts each event with its serialized body, a delivery for
 * each matching active subscription, and jobs for workers. Everything happens in the transaction of the changes. If no
 * subscription matches, writes nothing and runs only one statement. For an import key, does nothing.
 *
 * Call this function after the changes, because another transaction may commit a new subscription while a change waits
 * for a lock.
 * @param onlyTo the only subscription that receives the events; default: all matching subscriptions
 */
export async function emitAll<Type extends EventType>(
  emitter: Emitter,
  type: Type,
  emissions: readonly Emission<Type>[],
  onlyTo?: bigint,
): Promise<void> {
  const { db, dispatchJobs, afterCommit, wakeWorkers, traceParent, keyId, isImport } = emitter;
  // An import key emits no events, except a test event or a replay that a request asks for.
  if (isImport === true && onlyTo === undefined) return;
  const tenantId = db.$tenantId;
  const actor = actorOf(emitter);
  const { key } = events[type];
  const written = emissions.map(({ payload, changes, comment, timestamp = payload.updatedAt, publicId }) => {
    const id = publicId ?? newEventId('evt_');
    const body = {
      id,
      type,
      timestamp,
      actor,
      [key]: payload,
      ...(changes && { changes }),
      ...(comment && { comment }),
    };
    return { id, body: JSON.stringify(body), fields: JSON.stringify(getFilterValues(payload, changes)) };
  });

  const subscriptions = await db.$sql(insertEvents, {
    type,
    onlyTo: onlyTo ?? null,
    ids: written.map(({ id }) => id),
    bodies: written.map(({ body }) => body),
    fields: written.map(({ fields }) => fields),
    traceParent: traceParent?.() ?? null,
    keyId: keyId ?? null,
  });
  if (subscriptions.length === 0) return;

  await dispatchJobs.addWithin(subscriptions.map(({ id }) => ({ tenantId, subscriptionId: id })));
  afterCommit(wakeWorkers);
}

/** Generates the public id of an event. */
export function newEventId(prefix: 'evt_' | 'evt_test_'): string {
  return `${prefix}${randomBytes(16).toString('hex')}`;
}

/**
 * Builds the SQL condition for an active subscription of the tenant that has the event type. `matchesEvent` checks the
 * content of the event.
 */
const isSubscribed = ({ type }: Record<'type', Parameter>) =>
  sql`tenant_id = ${tenant} AND active AND events @> ARRAY[${type}::text]`;

/** Whether an active subscription has the event type. */
export interface HasSubscribers {
  hasSubscribers: boolean;
}

const selectHasSubscribers = rows<{ type: EventType }, HasSubscribers>(
  (given) => sql`SELECT EXISTS (SELECT FROM webhook_subscriptions WHERE ${isSubscribed(given)}) AS "hasSubscribers"`,
);

/**
 * Returns a statement that checks whether an active subscription has the event type.
 *
 * Send the statement after the change, because another transaction may commit a new subscription while the change waits
 * for a lock.
 */
export function querySubscribers(db: TenantClient, type: EventType): Bound<HasSubscribers> {
  return db.$bind(selectHasSubscribers, { type });
}

/**
 * Returns the values that a filter can match: the current value of each field, and the previous value of each changed
 * field. If a value is a list, a filter can match its items.
 */
function getFilterValues(payload: object, changes: Changes = {}): Record<string, unknown[]> {
  const fields = Object.entries(payload).map(([name, value]) => {
    const before = Object.hasOwn(changes, name) ? [changes[name]?.from] : [];
    return [name, [value, ...before].flat().filter(isFilterValue)];
  });
  const { customFields = {} } = payload as { customFields?: object };
  return { ...Object.fromEntries(fields), ...getFieldValues(customFields, changes.customFields?.from ?? {}) };
}

/** Returns the values of each custom field, under names such as `customFields.site`. */
function getFieldValues(...states: object[]): Record<string, unknown[]> {
  const values: Record<string, unknown[]> = {};
  for (const [key, value] of states.flatMap((fields) => Object.entries(fields))) {
    const name = `customFields.${key}`;
    values[name] = [...(values[name] ?? []), value].flat().filter(isFilterValue);
  }
  return values;
}

/** Returns true if a filter can match the value. Filters can't match objects or text longer than `filterLimits.text`. */
function isFilterValue(value: unknown): boolean {
  // The limit is a number of Unicode characters, and a character has at most two UTF-16 units. If the text has more
  // than twice as many units as the limit, counting its characters is unnecessary.
  if (typeof value === 'string') return value.length <= 2 * filterLimits.text && [...value].length <= filterLimits.text;
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

/**
 * Builds the SQL condition for a subscription that accepts the event. A subscription with `skip_own` doesn't accept
 * changes that were made with its own API key or with a key that replaced this key. `keyId` is the key that made the
 * change.
 *
 * If the subscription has a filter, each field of the filter must have an accepted value before or after the change.
 */
const matchesEvent = ({ keyId }: Record<'keyId', Parameter>) => sql`
  NOT (skip_own AND coalesce(key_id IN (
    WITH RECURSIVE line AS (
      SELECT ${keyId}::bigint AS id
      UNION SELECT k.rotated_from FROM line JOIN api_keys k ON k.tenant_id = ${tenant} AND k.id = line.id
    ) SELECT id FROM line WHERE id IS NOT NULL
  ), false)) AND (filter IS NULL OR NOT EXISTS (
    SELECT FROM jsonb_each(filter) AS field (name, accepted)
    WHERE NOT EXISTS (SELECT FROM jsonb_array_elements(fields -> name) AS given (value) WHERE accepted @> value)))`;

/** The parameters of the statement that inserts events. The lists have an item for each event. */
interface NewEvents {
  type: EventType;
  /** The only subscription that receives the events, or null. */
  onlyTo: bigint | null;
  ids: string[];
  bodies: string[];
  fields: string[];
  traceParent: string | null;
  keyId: bigint | null;
}

/**
 * Inserts the events and their deliveries, and returns the ids of the subscriptions. A subscription that the quota has
 * paused gets only events that are only for this subscription, such as test events. Filters use `fields` instead of the
 * bodies, because bodies are large.
 */
const insertEvents = rows<NewEvents, { id: bigint }>(
  (given) => sql`
  WITH given AS MATERIALIZED (
    SELECT fields::jsonb AS fields, place FROM unnest(${given.fields}::text[]) WITH ORDINALITY AS given (fields, place)
  ), matching AS (
    SELECT s.id, given.place FROM webhook_subscriptions s CROSS JOIN given
    WHERE ${isSubscribed(given)}
      AND CASE WHEN ${given.onlyTo}::bigint IS NULL THEN quota_reached_at IS NULL AND ${matchesEvent(given)}
        ELSE id = ${given.onlyTo} END
  ), event AS (
    INSERT INTO events (tenant_id, public_id, type, body, trace_parent)
    SELECT ${tenant}, public_id, ${given.type}, body, ${given.traceParent}
    FROM unnest(${given.ids}::text[], ${given.bodies}::text[]) WITH ORDINALITY AS written (public_id, body, place)
    WHERE place IN (SELECT place FROM matching) ORDER BY place
    RETURNING id, public_id
  ), delivery AS (
    INSERT INTO deliveries (tenant_id, subscription_id, event_id)
    SELECT ${tenant}, matching.id, event.id
    FROM event JOIN unnest(${given.ids}::text[]) WITH ORDINALITY AS written (public_id, place) USING (public_id)
      JOIN matching USING (place) ORDER BY event.id, matching.id
  )
  SELECT DISTINCT id FROM matching ORDER BY id`,
);
