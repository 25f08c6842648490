import { sql } from '../../database/client/sql.ts';
import { command, type None, one } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockTenant } from '../../database/row-lock.ts';
import { type AuditContext, auditChanges, recordAudit } from '../audit/audit-entry.ts';
import { transaction } from '../shared/context.ts';

const selectMode = one<None, { isStrict: boolean }>(
  ({ tenant }) => sql`SELECT strict_custom_fields AS "isStrict" FROM ticket_sequences WHERE tenant_id = ${tenant}`,
);

const writeMode = command<{ isStrict: boolean }>(
  ({ tenant, isStrict }) => sql`INSERT INTO ticket_sequences (tenant_id, strict_custom_fields)
    VALUES (${tenant}, ${isStrict}) ON CONFLICT (tenant_id) DO UPDATE
    SET strict_custom_fields = EXCLUDED.strict_custom_fields`,
);

/** Returns whether the workspace rejects custom fields without a definition. */
export async function getStrictMode(db: TenantClient): Promise<boolean> {
  return (await db.$sql(selectMode))?.isStrict ?? false;
}

/** Sets whether the workspace rejects custom fields without a definition. Changes no stored value. */
export function setStrictMode(context: AuditContext, isStrict: boolean): Promise<void> {
  return transaction(context, async (context) => {
    const { db } = context;
    await lockTenant(db, 'customFields');
    const before = await getStrictMode(db);
    await db.$sql(writeMode, { isStrict });
    await recordAudit(context, {
      action: 'settings.updated',
      target: { type: 'workspace', id: db.$tenantId },
      changes: auditChanges({ strictCustomFields: before }, { strictCustomFields: isStrict }, ['strictCustomFields']),
    });
  });
}
