import { randomBytes } from 'node:crypto';
import { type Changes, type EventPayload, type EventType, events, filterLimits } from '@itsm-api/contract';
import { queryRows, type Statement } from '../../database/client/raw-sql.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { type Acting, actorOf } from '../../shared/actor.ts';
import type { DispatchJobs } from './dispatch-jobs.ts';

/** What `emit` needs of the transaction that makes the change. */
export interface Emitter extends Acting {
  db: TenantClient;
  /** The key of the request that makes the change; undefined on the command line. */
  keyId?: bigint | undefined;
  dispatchJobs: DispatchJobs;
  /** Called when the transaction has been committed. */
  afterCommit(action: () => void): void;
  /** Tells the workers that there is something to do. */
  wakeWorkers(): void;
  /** What goes on here, for the attempts to be followed back to (docs/decisions/observability.md); undefined without traces. */
  traceParent?: (() => string | undefined) | undefined;
}

/** What happened: the resource as the API answers it and, on an update, what changed. */
export interface Emission<Type extends EventType> {
  payload: EventPayload<Type>;
  changes?: Changes;
  /** When it happened, where that isn't when the resource was changed: receivers tell by it which of its states is newest. */
  timestamp?: string;
  /** What receivers know it by; made up unless it is given. */
  publicId?: string;
}

/** Writes one public event: see `emitAll`. */
export function emit<Type extends EventType>(
  emitter: Emitter,
  type: Type,
  { onlyTo, ...emission }: Emission<Type> & { onlyTo?: bigint },
): Promise<void> {
  return emitAll(emitter, type, [emission], onlyTo);
}

/**
 * Writes public events to the outbox (spec §6), in their order: each event, its body serialised once, a delivery for each
 * active subscription that wants it, and the jobs that tell a worker. All in the transaction of the changes, so that all
 * are committed or none is. Who wants them is read in a statement after that of the changes, so that a subscription which
 * was committed while they waited for a lock is told. One statement when nobody subscribes.
 * @param onlyTo the one subscription that they are for, where they aren't for all that want them
 */
export async function emitAll<Type extends EventType>(
  { db, dispatchJobs, afterCommit, wakeWorkers, traceParent, userId, keyId }: Emitter,
  type: Type,
  emissions: readonly Emission<Type>[],
  onlyTo?: bigint,
): Promise<void> {
  const tenantId = db.$tenantId;
  const actor = actorOf({ userId, keyId });
  const { key } = events[type];
  const written = emissions.map(({ payload, changes, timestamp = payload.updatedAt, publicId }) => {
    const id = publicId ?? newEventId('evt_');
    const body = { id, type, timestamp, actor, [key]: payload, ...(changes && { changes }) };
    return { id, body: JSON.stringify(body), fields: JSON.stringify(filterable(payload, changes)) };
  });

  const subscriptions = await queryRows<{ id: string }>(db, {
    text: insertEvents,
    values: [
      tenantId,
      type,
      onlyTo ?? null,
      written.map(({ id }) => id),
      written.map(({ body }) => body),
      traceParent?.() ?? null,
      written.map(({ fields }) => fields),
      keyId ?? null,
    ],
  });
  if (subscriptions.length === 0) return;

  await dispatchJobs.addWithin(
    db,
    subscriptions.map(({ id }) => ({ tenantId, subscriptionId: BigInt(id) })),
  );
  afterCommit(wakeWorkers);
}

/** A new id for receivers to know an event by. */
export function newEventId(prefix: 'evt_' | 'evt_test_'): string {
  return `${prefix}${randomBytes(16).toString('hex')}`;
}

/** The subscriptions of the tenant $1 that have the event type $2. Whether one takes an event depends on the event: `takes`. */
const wantingSubscriptions = 'tenant_id = $1 AND active AND events @> ARRAY[$2::text]';

/**
 * Returns the statement that reports, in a row `isWanted`, whether an active subscription has this type of event. Send it
 * after the change, so that it sees subscriptions that were committed while the change waited for a lock.
 */
export function querySubscribers(db: TenantClient, type: EventType): Statement {
  const text = `SELECT EXISTS (SELECT FROM webhook_subscriptions WHERE ${wantingSubscriptions}) AS "isWanted"`;
  return { text, values: [db.$tenantId, type] };
}

/** What a filter may ask of an event: of each field what it is and, where it was changed, what it was before. */
function filterable(payload: object, changes: Changes = {}): Record<string, unknown[]> {
  const fields = Object.entries(payload).map(([name, value]) => {
    const before = Object.hasOwn(changes, name) ? [changes[name]?.from] : [];
    return [name, [value, ...before].filter(isFilterValue)];
  });
  return Object.fromEntries(fields);
}

/** Filters ask for no list and no object, and for no text that is longer than theirs. */
function isFilterValue(value: unknown): boolean {
  // Of characters, which may be of two UTF-16 units.
  if (typeof value === 'string') return value.length <= 2 * filterLimits.text && [...value].length <= filterLimits.text;
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

/**
 * Whether a subscription takes an event that it wants by its type, in SQL: not what its own key does ($8), or one that took
 * its place, if it skips that; and only where each field of its filter is one of the values given, or was before the change.
 */
const takes = `
  NOT (skip_own AND coalesce(key_id IN (
    WITH RECURSIVE line AS (
      SELECT $8::bigint AS id
      UNION SELECT k.rotated_from FROM line JOIN api_keys k ON k.tenant_id = $1 AND k.id = line.id
    ) SELECT id FROM line WHERE id IS NOT NULL
  ), false)) AND (filter IS NULL OR NOT EXISTS (
    SELECT FROM jsonb_each(filter) AS field (name, accepted)
    WHERE NOT EXISTS (SELECT FROM jsonb_array_elements(fields -> name) AS told (value) WHERE accepted @> value)))`;

/** One that has reached its quota gets test events alone ($3). Bodies are large: those who take an event are found by its fields. */
const insertEvents = `
  WITH given AS MATERIALIZED (
    SELECT fields::jsonb AS fields, place FROM unnest($7::text[]) WITH ORDINALITY AS given (fields, place)
  ), matching AS (
    SELECT s.id, given.place FROM webhook_subscriptions s CROSS JOIN given
    WHERE ${wantingSubscriptions}
      AND CASE WHEN $3::bigint IS NULL THEN quota_reached_at IS NULL AND ${takes} ELSE id = $3 END
  ), event AS (
    INSERT INTO events (tenant_id, public_id, type, body, trace_parent)
    SELECT $1, public_id, $2, body, $6
    FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS written (public_id, body, place)
    WHERE place IN (SELECT place FROM matching) ORDER BY place
    RETURNING id, public_id
  ), delivery AS (
    INSERT INTO deliveries (tenant_id, subscription_id, event_id)
    SELECT $1, matching.id, event.id
    FROM event JOIN unnest($4::text[]) WITH ORDINALITY AS written (public_id, place) USING (public_id)
      JOIN matching USING (place) ORDER BY event.id, matching.id
  )
  SELECT DISTINCT id FROM matching ORDER BY id`;
