import type { Ticket } from '@itsm-api/contract';
import { sql } from '../../database/client/sql.ts';
import { command, type None, one } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { invalidField } from '../../shared/errors.ts';
import { type AuditContext, auditChanges, recordAudit } from '../audit/audit-entry.ts';
import { type Context, transaction } from '../shared/context.ts';

/*
 * The policy that work on a CHANGE can start only if the change is approved and within its window
 * (docs/decisions/changes.md). The setting is in the row of `ticket_sequences`.
 */

const selectPolicy = one<None, { isOn: boolean }>(
  ({ tenant }) => sql`SELECT change_policy AS "isOn" FROM ticket_sequences WHERE tenant_id = ${tenant}`,
);

const writePolicy = command<{ isOn: boolean }>(
  ({ tenant, isOn }) => sql`INSERT INTO ticket_sequences (tenant_id, change_policy)
    VALUES (${tenant}, ${isOn}) ON CONFLICT (tenant_id) DO UPDATE SET change_policy = EXCLUDED.change_policy`,
);

/** Returns whether the workspace has the policy for changes. */
export async function getChangePolicy(db: TenantClient): Promise<boolean> {
  return (await db.$sql(selectPolicy))?.isOn ?? false;
}

/** Turns the policy for changes on or off. Changes no ticket. */
export function setChangePolicy(context: AuditContext, isOn: boolean): Promise<void> {
  return transaction(context, async (context) => {
    const { db } = context;
    const before = await getChangePolicy(db);
    await db.$sql(writePolicy, { isOn });
    await recordAudit(context, {
      action: 'settings.updated',
      target: { type: 'workspace', id: db.$tenantId },
      changes: auditChanges({ changePolicy: before }, { changePolicy: isOn }, ['changePolicy']),
    });
  });
}

/** The part of a change that the policy depends on. */
interface Start {
  before: Ticket;
  after: Ticket;
}

/** Returns true if a request starts the work on a CHANGE, or resolves a CHANGE whose work hasn't started. */
function isStart({ before, after }: Start): boolean {
  const wasWaiting = before.status === 'OPEN' || before.status === 'PENDING';
  return before.type === 'CHANGE' && wasWaiting && (after.status === 'IN_PROGRESS' || after.status === 'RESOLVED');
}

/**
 * Returns whether the policy applies to the changes of a request. If no change starts the work on a CHANGE, doesn't
 * query the database. The policy applies neither to import keys nor to administrators who override it.
 */
export async function findChangePolicy(context: Context, changes: readonly Start[]): Promise<boolean> {
  if (context.isImport === true || context.overridesChangePolicy === true) return false;
  return changes.some(isStart) && (await getChangePolicy(context.db));
}

/** Checks a change against the policy, if the policy applies. @throws ApiError INVALID_TRANSITION */
export function assertChangePolicy(isOn: boolean, change: Start, now: Date): void {
  if (!isOn || !isStart(change)) return;
  const reason = findReason(change.after, now.toISOString());
  if (reason === undefined) return;
  const { before, after } = change;
  throw invalidField('INVALID_TRANSITION', 'status', `can't change from ${before.status} to ${after.status} ${reason}`);
}

function findReason({ approvalStatus, plannedStartAt, plannedEndAt }: Ticket, now: string): string | undefined {
  if (approvalStatus !== 'APPROVED') {
    return `because the change isn't approved: approvalStatus is ${approvalStatus}. Wait for the approvals.`;
  }
  if (plannedStartAt === null || plannedEndAt === null) {
    return 'because the change has no planned window. Set plannedStartAt and plannedEndAt.';
  }
  if (now < plannedStartAt) return `before the planned window starts at ${plannedStartAt}. The time is ${now}.`;
  if (now >= plannedEndAt)
    return `after the planned window ended at ${plannedEndAt}. The time is ${now}. Plan a new one.`;
  return undefined;
}
