import type { User } from '@itsm-api/contract';
import { queryRows } from '../../database/client/raw-sql.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockRow, lockTenant } from '../../database/row-lock.ts';
import { recordAudit } from '../audit/audit-entry.ts';
import { type Context, transaction } from '../shared/context.ts';
import { revokeUserKeys, type UserKey } from '../users/key-revocation.ts';
import { assertAdministrator, erasedEmail, findUser, presentUser } from '../users/queries.ts';
import { redactedText } from './redacted-copy.ts';

/** An erased user, and the API keys that were revoked. The keys have the names from before. */
export type ErasedUser = User & { revokedKeys: UserKey[] };

/**
 * Erases the personal data of a user: replaces the name and the email address, and deletes the other personal fields,
 * the credentials, the sessions and the uploaded CSV files. Deactivates the user and revokes the API keys. The row
 * remains, because tickets refer to it (docs/decisions/privacy.md). A repeated call changes nothing. Requires the
 * database role `itsm_system`.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if the user is the last active administrator
 */
export function eraseUser(context: Context, reference: string | number): Promise<ErasedUser> {
  return transaction(context, async (context) => {
    const { db } = context;
    await lockTenant(db, 'administrators');
    const { id } = await findUser(context, reference);
    await lockRow(db, 'users', id);
    const before = await findUser(context, id);
    if (before.email === erasedEmail(id)) return { ...before, revokedKeys: [] };
    const name = `Erased user ${id}`;
    const personal = { jobTitle: null, department: null, phone: null, timeZone: null };
    const data = { name, email: erasedEmail(id), active: false, ...personal };
    const [row] = await db.user.updateManyAndReturn({ where: { id }, data });
    if (row === undefined) throw new Error('The locked user was deleted.');
    if (before.role === 'ADMIN') await assertAdministrator(db);

    const revokedKeys = await revokeUserKeys(context, id, {});
    const userId = id;
    await db.apiKey.updateMany({ where: { userId }, data: { name: redactedText, lastUsedAddress: null } });
    await db.session.deleteMany({ where: { userId } });
    await db.passkey.deleteMany({ where: { userId } });
    await db.password.deleteMany({ where: { userId } });
    await db.invitation.deleteMany({ where: { userId } });
    // The files of other administrators can also contain the user's address.
    await db.csvUpload.deleteMany({});
    await clearSubjects(db, [before.name, before.email]);
    await recordAudit(context, { action: 'user.erased', target: { type: 'user', id } });
    return { ...presentUser(row), revokedKeys };
  });
}

/** Deletes display names from audit entries of earlier releases if they contain one of the texts, in any case. */
async function clearSubjects(db: TenantClient, texts: string[]): Promise<void> {
  await queryRows(db, {
    text: `UPDATE audit_entries SET subject = NULL WHERE tenant_id = $1 AND subject IS NOT NULL
      AND EXISTS (SELECT FROM unnest($2::text[]) AS text WHERE strpos(lower(subject), lower(text)) > 0)`,
    values: [db.$tenantId, texts],
  });
}
