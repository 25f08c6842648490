import { randomBytes } from 'node:crypto';
import { type Changes, type EventPayload, type EventType, events } from '@itsm-api/contract';
import { type Statement, selectRows } from '../database/statements.ts';
import type { TenantClient } from '../database/tenant-client.ts';
import type { DispatchJobs } from './dispatch-jobs.ts';

/** What `emit` needs of the transaction that makes the change. */
export interface Emitter {
  db: TenantClient;
  /** The key of the request that makes the change; undefined on the command line. */
  keyId?: bigint | undefined;
  dispatchJobs: DispatchJobs;
  now(): Date;
  /** Called when the transaction has been committed. */
  afterCommit(action: () => void): void;
  /** Tells the workers that there is something to do. */
  wakeWorkers(): void;
  /** What goes on here, for the attempts to be followed back to (docs/decisions/traces.md); undefined without traces. */
  traceParent?: (() => string | undefined) | undefined;
}

/** What happened: the resource as the API answers it and, on an update, what changed. */
export interface Emission<Type extends EventType> {
  payload: EventPayload<Type>;
  changes?: Changes;
  /** The one subscription that it is for, where it isn't for all that want it. */
  onlyTo?: bigint;
  /** What receivers know it by; made up unless it is given. */
  publicId?: string;
}

/**
 * Writes a public event to the outbox (spec §6): the event, its body serialised once, a delivery for each active
 * subscription that wants it, and the job that tells a worker. All in the transaction of the change, so that both are
 * committed or neither is. Who wants it is read in a statement after that of the change, so that a subscription which
 * was committed while the change waited for a lock is told. One statement when nobody subscribes.
 */
export async function emit<Type extends EventType>(
  { db, keyId, dispatchJobs, now, afterCommit, wakeWorkers, traceParent }: Emitter,
  type: Type,
  { payload, changes, onlyTo, publicId = newEventId('evt_') }: Emission<Type>,
): Promise<void> {
  const tenantId = db.$tenantId;
  const body = JSON.stringify({
    id: publicId,
    type,
    timestamp: now().toISOString(),
    [events[type].key]: payload,
    ...(changes && { changes }),
  });

  const subscriptions = await selectRows<{ id: string }>(db, {
    text: insertEvent,
    values: [tenantId, type, onlyTo ?? null, publicId, body, traceParent?.() ?? null, events[type].key, keyId ?? null],
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

/**
 * Which subscriptions may want an event, in SQL: of a tenant and of a type, both SQL. Whether one does is known when it
 * has happened: `takes`.
 */
const wanting = (tenantId: string, type: string) =>
  `tenant_id = ${tenantId} AND active AND events @> ARRAY[${type}::text]`;

/** Whether somebody may want an event, in SQL: of a tenant and of a type, both SQL. */
export const isWanted = (tenantId: string, type: string) =>
  `EXISTS (SELECT FROM webhook_subscriptions WHERE ${wanting(tenantId, type)})`;

/**
 * Tells, in a row `isWanted`, whether somebody may want an event. To be sent behind the change: it sees a subscription
 * that was committed while the change waited for a lock.
 */
export function askWhetherWanted(db: TenantClient, type: EventType): Statement {
  return { text: `SELECT ${isWanted('$1', '$2')} AS "isWanted"`, values: [db.$tenantId, type] };
}

/** What `failIfWanted` fails with. */
export const DIVISION_BY_ZERO = '22012';

/**
 * The same for a change that is committed with it: fails where something was written of which somebody may want to be
 * told, so that nothing was.
 */
export function failIfWanted(db: TenantClient, type: EventType): Statement {
  const text = `SELECT 1 / (NOT ${isWanted('$1', '$2')})::int WHERE pg_current_xact_id_if_assigned() IS NOT NULL`;
  return { text, values: [db.$tenantId, type] };
}

/** What `takes` asks of an event, as `insertEvent` has it. */
const happened = { tenantId: '$1', keyId: '$8::bigint', body: '(SELECT body FROM given)', key: '$7::text' };

/**
 * Whether a subscription takes an event that it wants by its type, in SQL, of SQL: not what its own key does, or one that
 * took its place, if it skips that; and only where each field of its filter is one of the values given, or was before the
 * change. `body` is the event's, as jsonb, and `key` that under which it has the resource; `keyId` that of the key which
 * makes the change, or NULL.
 */
const takes = ({ tenantId, keyId, body, key }: Record<'tenantId' | 'keyId' | 'body' | 'key', string>) => `
  NOT (skip_own AND key_id IN (
    WITH RECURSIVE line AS (
      SELECT ${keyId} AS id
      UNION SELECT k.rotated_from FROM line JOIN api_keys k ON k.tenant_id = ${tenantId} AND k.id = line.id
    ) SELECT id FROM line WHERE id IS NOT NULL
  )) AND (filter IS NULL OR NOT EXISTS (
    SELECT FROM jsonb_each(filter) AS field (name, accepted)
    WHERE NOT coalesce(accepted @> (${body} -> ${key} -> name), false)
      AND NOT coalesce(accepted @> (${body} -> 'changes' -> name -> 'from'), false)))`;

const insertEvent = `
  WITH given AS MATERIALIZED (
    -- Read once, and only where a filter asks.
    SELECT $5::text::jsonb AS body
  ), matching AS (
    SELECT id FROM webhook_subscriptions
    WHERE ${wanting('$1', '$2')}
      AND CASE WHEN $3::bigint IS NULL THEN ${takes(happened)} ELSE id = $3 END
  ), event AS (
    INSERT INTO events (tenant_id, public_id, type, body, trace_parent)
    SELECT $1, $4, $2, $5::text, $6 WHERE EXISTS (SELECT FROM matching)
    RETURNING id
  ), delivery AS (
    INSERT INTO deliveries (tenant_id, subscription_id, event_id)
    SELECT $1, matching.id, event.id FROM matching, event
  )
  SELECT id FROM matching ORDER BY id`;
