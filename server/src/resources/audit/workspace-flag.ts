import { identifier, sql, tenant } from '../../database/client/sql.ts';
import { command, type None, oneAsJson } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockTenant } from '../../database/row-lock.ts';
import { transaction } from '../shared/context.ts';
import { type AuditContext, auditChanges, recordAudit } from './audit-entry.ts';

/** A setting of a workspace that is on or off. */
export interface WorkspaceFlag {
  isOn(db: TenantClient): Promise<boolean>;
  /** Turns the setting on or off, and records the change in the audit log. */
  set(context: AuditContext, isOn: boolean): Promise<void>;
}

/**
 * Returns a setting that is a column of `ticket_sequences`, where it needs no table of its own.
 * @param name the name of the setting in the audit log
 */
export function workspaceFlag(column: string, name: string): WorkspaceFlag {
  const select = oneAsJson<None, { isOn: boolean }>(
    () => sql`SELECT ${identifier(column)} AS "isOn" FROM ticket_sequences WHERE tenant_id = ${tenant}`,
  );
  const write = command<{ isOn: boolean }>(
    ({ isOn }) => sql`INSERT INTO ticket_sequences (tenant_id, ${identifier(column)}) VALUES (${tenant}, ${isOn})
      ON CONFLICT (tenant_id) DO UPDATE SET ${identifier(column)} = EXCLUDED.${identifier(column)}`,
  );
  const isOn = async (db: TenantClient) => (await db.$sql(select))?.isOn ?? false;
  return {
    isOn,
    set: (context, value) =>
      transaction(context, async (context) => {
        const { db } = context;
        await lockTenant(db, 'ticketSequence');
        const before = await isOn(db);
        await db.$sql(write, { isOn: value });
        await recordAudit(context, {
          action: 'settings.updated',
          target: { type: 'workspace', id: db.$tenantId },
          changes: auditChanges({ [name]: before }, { [name]: value }, [name]),
        });
      }),
  };
}
