import { deliverySchedule } from '@itsm-api/contract';
import * as z from 'zod';
import { sql, tenant } from '../../database/client/sql.ts';
import type { Timeouts } from '../../database/client/statement-timeout.ts';
import { command } from '../../database/client/statements.ts';
import { invalidField } from '../../shared/errors.ts';
import { recordAudit } from '../audit/audit-entry.ts';
import { findTenant, type Sources, type Tenant, targetOf, tenantContext } from './queries.ts';

/** `read-only` stops only the writes of a tenant, and `on` also stops the reads. */
export const Maintenance = z.enum(['on', 'read-only', 'off']);
export type Maintenance = z.output<typeof Maintenance>;

/** Uses the clock of PostgreSQL, because an export compares the start with this clock. */
const begin = command(
  () => sql`UPDATE tenants SET maintenance_since = clock_timestamp(), unavailable_since = NULL, updated_at = now()
    WHERE id = ${tenant} AND maintenance_since IS NULL`,
);
const end = command(
  () => sql`UPDATE tenants SET maintenance_since = NULL, unavailable_since = NULL, updated_at = now()
    WHERE id = ${tenant} AND maintenance_since IS NOT NULL AND NOT incomplete`,
);

// Changes no exported column, so an export that was made before stays valid.
const stopReads = command(
  () => sql`UPDATE tenants SET unavailable_since = clock_timestamp()
    WHERE id = ${tenant} AND unavailable_since IS NULL`,
);
const allowReads = command(
  () => sql`UPDATE tenants SET unavailable_since = NULL
    WHERE id = ${tenant} AND unavailable_since IS NOT NULL AND NOT incomplete`,
);

/**
 * Starts, changes or ends the maintenance of a tenant (docs/decisions/maintenance.md). Within `quietAfterMs` after the
 * start, all processes stop writing to the tenant. A change between `read-only` and `on` keeps the start, and leaves no
 * audit entry. A repeated call has no effect.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR for `read-only` and `off` if an import or a deletion of the tenant is
 * incomplete
 */
export async function setMaintenance(sources: Sources, nameOrId: string, state: Maintenance): Promise<Tenant> {
  const { prisma } = sources.databases.system;
  const context = await tenantContext(sources, nameOrId);
  const id = context.db.$tenantId;
  return context.db.$transaction(async () => {
    const count = await context.db.$sql(state === 'off' ? end : begin);
    if (state !== 'off') await context.db.$sql(state === 'on' ? stopReads : allowReads);
    if (state !== 'on' && (await prisma.tenant.count({ where: { id, incomplete: true } })) > 0) {
      throw invalidField(
        'VALIDATION_ERROR',
        'tenant',
        'is incomplete after an import or a deletion. Delete it with `tenants delete`.',
      );
    }
    const action = state === 'off' ? 'maintenance.ended' : 'maintenance.began';
    if (count > 0) await recordAudit(context, { action, target: targetOf({ id }) });
    return findTenant(prisma, String(id));
  });
}

/**
 * The maximum time in milliseconds in which every process receives the notification that maintenance has begun. A
 * process that doesn't receive notifications detects this within two heartbeats, and then looks up each API key in the
 * database.
 */
const maxNoticeMs = 1000;

/** The maximum time in milliseconds that a request waits for a database connection (database/client/pool.ts). */
const maxConnectMs = 5000;

/**
 * Returns the time in milliseconds after the start of maintenance after which no process begins a transaction in the
 * tenant. Transactions that are open at that time may still commit, so wait for them too.
 *
 * A request checks the maintenance before it runs: it then waits for a connection and runs one read, and does the same
 * for its transaction. A worker that has claimed a delivery records the result after the attempt.
 */
export function quietAfterMs({ statementMs }: Timeouts): number {
  const requestMs = 2 * (maxConnectMs + statementMs);
  const attemptMs = deliverySchedule.attemptTimeout + maxConnectMs;
  return maxNoticeMs + Math.max(requestMs, attemptMs);
}
