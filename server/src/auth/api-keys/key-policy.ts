import { integerFromText } from '@itsm-api/contract';
import * as z from 'zod';
import { sql, tenant } from '../../database/client/sql.ts';
import { command, type None, rows } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockTenant } from '../../database/row-lock.ts';
import { type AuditContext, auditChanges, recordAudit } from '../../resources/audit/audit-entry.ts';
import { transaction } from '../../resources/shared/context.ts';
import { invalidField } from '../../shared/errors.ts';

/* The rules of a workspace for the expiry of new and rotated API keys (docs/decisions/api-keys-design.md). */

export const dayMs = 86_400_000;
const daysError = 'must be a whole number of days from 1 to 3650';

/** The schema of the lifetime of an API key in days. */
export const Days = z.int(daysError).min(1, daysError).max(3650, daysError);

export const KeyPolicy = z.strictObject({
  /** The maximum lifetime of a key in days, or null for no limit. */
  maxLifetimeDays: integerFromText(Days).nullable(),
  /** Whether keys must have an expiry. A maximum lifetime also requires an expiry. */
  expiryRequired: z.boolean(),
});
export type KeyPolicy = z.output<typeof KeyPolicy>;

const selectPolicy = rows<None, KeyPolicy>(
  () => sql`SELECT max_lifetime_days AS "maxLifetimeDays", expiry_required AS "expiryRequired"
    FROM key_policies WHERE tenant_id = ${tenant}`,
);

const writePolicy = command<KeyPolicy>(
  ({ maxLifetimeDays, expiryRequired }) => sql`
    INSERT INTO key_policies (tenant_id, max_lifetime_days, expiry_required)
    VALUES (${tenant}, ${maxLifetimeDays}, ${expiryRequired})
    ON CONFLICT (tenant_id) DO UPDATE
    SET max_lifetime_days = EXCLUDED.max_lifetime_days, expiry_required = EXCLUDED.expiry_required`,
);

/** Returns the rules of the workspace. */
export async function getKeyPolicy(db: TenantClient): Promise<KeyPolicy> {
  const [row] = await db.$sql(selectPolicy);
  return row ?? { maxLifetimeDays: null, expiryRequired: false };
}

/** Changes rules of the workspace, and returns all of them. Changes no existing key. */
export function setKeyPolicy(context: AuditContext, patch: Partial<KeyPolicy>): Promise<KeyPolicy> {
  return transaction(context, async (context) => {
    const { db } = context;
    await lockTenant(db, 'keyPolicy');
    const before = await getKeyPolicy(db);
    const policy = { ...before, ...patch };
    await db.$sql(writePolicy, policy);
    await recordAudit(context, {
      action: 'settings.updated',
      target: { type: 'workspace', id: db.$tenantId },
      changes: auditChanges({ keyPolicy: before }, { keyPolicy: policy }, ['keyPolicy']),
    });
    return policy;
  });
}

/** Returns whether new keys must have an expiry. */
export function requiresExpiry({ maxLifetimeDays, expiryRequired }: KeyPolicy): boolean {
  return expiryRequired || maxLifetimeDays !== null;
}

/**
 * Checks the expiry of a new or changed API key.
 * @throws ApiError VALIDATION_ERROR with a detail for `expiresInDays`
 */
export function checkExpiry(policy: KeyPolicy, { createdAt, expiresAt }: { createdAt: Date; expiresAt: Date | null }) {
  const { maxLifetimeDays: max } = policy;
  if (expiresAt === null) {
    if (!requiresExpiry(policy)) return;
    throw invalidField('VALIDATION_ERROR', 'expiresInDays', 'must be set, because this workspace requires an expiry');
  }
  if (max === null || expiresAt.getTime() - createdAt.getTime() <= max * dayMs) return;
  const message = `must be at most ${max} days after the creation of the key, which is the maximum of this workspace`;
  throw invalidField('VALIDATION_ERROR', 'expiresInDays', message);
}
