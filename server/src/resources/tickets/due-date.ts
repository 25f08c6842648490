import { Priority } from '@itsm-api/contract';
import * as z from 'zod';
import { type Sql, sql, tenant } from '../../database/client/sql.ts';
import { command, type None, oneAsJson } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { type AuditChanges, type AuditContext, auditChanges, recordAudit } from '../audit/audit-entry.ts';
import { transaction } from '../shared/context.ts';

/*
 * Computes due dates from the resolution targets of a workspace (docs/decisions/tickets.md). The targets are in the row
 * of `ticket_sequences`, because the statement that inserts tickets reads this row anyway.
 */

const Minutes = z
  .int({ error: 'must be a whole number of minutes' })
  .min(1, 'must be at least 1 minute')
  .max(525_600, 'must be at most 525600 minutes')
  .nullable();

/** The resolution targets of a workspace: minutes by priority, or null for a priority without a target. */
export const ResolutionTargets = z.strictObject(
  Object.fromEntries(Priority.options.map((priority) => [priority, Minutes])) as Record<Priority, typeof Minutes>,
);
export type ResolutionTargets = z.output<typeof ResolutionTargets>;

const selectTargets = oneAsJson<None, { targets: object | null }>(
  () => sql`SELECT resolution_targets AS targets FROM ticket_sequences WHERE tenant_id = ${tenant}`,
);

/** Returns the resolution targets of the workspace. */
export async function getResolutionTargets(db: TenantClient): Promise<ResolutionTargets> {
  return presentTargets((await db.$sql(selectTargets))?.targets);
}

/** Adds null for the priorities without a target, which the database doesn't store. */
export function presentTargets(stored: unknown): ResolutionTargets {
  const none = Object.fromEntries(Priority.options.map((priority) => [priority, null]));
  return { ...none, ...(stored as object | null) } as ResolutionTargets;
}

/** Changes some resolution targets of the workspace, and returns all of them. Changes no existing ticket. */
export function setResolutionTargets(
  context: AuditContext,
  patch: Partial<ResolutionTargets>,
): Promise<ResolutionTargets> {
  return transaction(context, async (context) => {
    const { targets, changes } = await writeResolutionTargets(context.db, patch);
    const target = { type: 'workspace', id: context.db.$tenantId } as const;
    await recordAudit(context, { action: 'settings.updated', target, changes });
    return targets;
  });
}

const writeTargets = command<{ patch: string }>(
  ({ patch }) => sql`INSERT INTO ticket_sequences AS s (tenant_id, resolution_targets)
    VALUES (${tenant}, jsonb_strip_nulls(${patch}::jsonb)) ON CONFLICT (tenant_id) DO UPDATE
    SET resolution_targets = jsonb_strip_nulls(coalesce(s.resolution_targets, '{}') || ${patch}::jsonb)`,
);

/** Changes some resolution targets. Returns all of them, and the changes for the audit log. */
export async function writeResolutionTargets(
  db: TenantClient,
  patch: Partial<ResolutionTargets>,
): Promise<{ targets: ResolutionTargets; changes: AuditChanges }> {
  const before = await getResolutionTargets(db);
  await db.$sql(writeTargets, { patch: JSON.stringify(patch) });
  const targets = await getResolutionTargets(db);
  const changes = auditChanges({ resolutionTargets: before }, { resolutionTargets: targets }, ['resolutionTargets']);
  return { targets, changes };
}

/** The parts of the SQL expression for a due date. All parts are SQL expressions. */
interface Due {
  createdAt: Sql;
  priority: Sql;
  targets: Sql;
}

/** Builds SQL for the due date by the target of the priority, or null if the priority has no target. */
export function dueByTarget({ createdAt, priority, targets }: Due): Sql {
  return sql`${createdAt} + make_interval(mins => (${targets} ->> ${priority})::int)`;
}
