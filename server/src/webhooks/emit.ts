import { randomBytes } from 'node:crypto';
import { type Changes, type EventPayload, type EventType, events } from '@itsm-api/contract';
import { type Acting, actorOf } from '../actor.ts';
import { type Statement, selectRows } from '../database/statements.ts';
import type { TenantClient } from '../database/tenant-client.ts';
import type { DispatchJobs } from './dispatch-jobs.ts';

/** What `emit` needs of the transaction that makes the change. */
export interface Emitter extends Acting {
  db: TenantClient;
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
  { db, dispatchJobs, now, afterCommit, wakeWorkers, traceParent, userId, keyId }: Emitter,
  type: Type,
  emissions: readonly Emission<Type>[],
  onlyTo?: bigint,
): Promise<void> {
  const tenantId = db.$tenantId;
  const timestamp = now().toISOString();
  const actor = actorOf({ userId, keyId });
  const written = emissions.map(({ payload, changes }) => {
    const id = `evt_${randomBytes(16).toString('hex')}`;
    return {
      id,
      body: JSON.stringify({ id, type, timestamp, actor, [events[type].key]: payload, ...(changes && { changes }) }),
    };
  });

  const subscriptions = await selectRows<{ id: string }>(db, {
    text: insertEvents,
    values: [
      tenantId,
      type,
      onlyTo ?? null,
      written.map(({ id }) => id),
      written.map(({ body }) => body),
      traceParent?.() ?? null,
    ],
  });
  if (subscriptions.length === 0) return;

  await dispatchJobs.addWithin(
    db,
    subscriptions.map(({ id }) => ({ tenantId, subscriptionId: BigInt(id) })),
  );
  afterCommit(wakeWorkers);
}

/** Which subscriptions want an event, in SQL: of a tenant and of a type, both SQL. */
const wanting = (tenantId: string, type: string) =>
  `tenant_id = ${tenantId} AND active AND events @> ARRAY[${type}::text]`;

/** Whether somebody wants an event, in SQL: of a tenant and of a type, both SQL. */
export const isWanted = (tenantId: string, type: string) =>
  `EXISTS (SELECT FROM webhook_subscriptions WHERE ${wanting(tenantId, type)})`;

/**
 * Tells, in a row `isWanted`, whether somebody wants an event. To be sent behind the change: it sees a subscription that
 * was committed while the change waited for a lock.
 */
export function askWhetherWanted(db: TenantClient, type: EventType): Statement {
  return { text: `SELECT ${isWanted('$1', '$2')} AS "isWanted"`, values: [db.$tenantId, type] };
}

/**
 * The same for a change that is committed with it: fails, with a division by zero, where something was written of which
 * somebody wants to be told, so that nothing was.
 */
export function failIfWanted(db: TenantClient, type: EventType): Statement {
  const text = `SELECT 1 / (NOT ${isWanted('$1', '$2')})::int WHERE pg_current_xact_id_if_assigned() IS NOT NULL`;
  return { text, values: [db.$tenantId, type] };
}

const insertEvents = `
  WITH matching AS (
    SELECT id FROM webhook_subscriptions
    WHERE ${wanting('$1', '$2')} AND ($3::bigint IS NULL OR id = $3)
  ), event AS (
    INSERT INTO events (tenant_id, public_id, type, body, trace_parent)
    SELECT $1, given.public_id, $2, given.body, $6
    FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS given (public_id, body, place)
    WHERE EXISTS (SELECT FROM matching) ORDER BY given.place
    RETURNING id
  ), delivery AS (
    INSERT INTO deliveries (tenant_id, subscription_id, event_id)
    SELECT $1, matching.id, event.id FROM matching, event ORDER BY event.id, matching.id
  )
  SELECT id FROM matching ORDER BY id`;
