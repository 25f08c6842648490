import type { User } from '@itsm-api/contract';
import { sql, tenant } from '../../database/client/sql.ts';
import { command } from '../../database/client/statements.ts';
import { lockRow, lockTenant } from '../../database/row-lock.ts';
import { ApiError } from '../../shared/errors.ts';
import { recordAudit } from '../audit/audit-entry.ts';
import { type Context, transaction } from '../shared/context.ts';
import { withdrawApprovals } from '../tickets/approvals/queries.ts';
import { revokeUserKeys, type UserKey } from '../users/key-revocation.ts';
import { erasedEmail, findUser, isErased, presentUser } from '../users/queries.ts';
import { assertAdministrator } from '../users/user-management.ts';
import { redactedText } from './redacted-copy.ts';

/** An erased user, and the API keys that were revoked. The keys have the names from before. */
export type ErasedUser = User & { revokedKeys: UserKey[] };

/**
 * Erases the personal data of a user: replaces the name and the email address, and deletes the other personal fields,
 * the credentials, the sessions and the uploaded CSV files. Deactivates the user, revokes the API keys, and withdraws
 * the pending approvals. The row remains, because tickets refer to it (docs/decisions/privacy.md). A repeated call
 * changes nothing. Requires the database role `itsm_system`.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if the user is the last active administrator
 */
export function eraseUser(context: Context, reference: string | number): Promise<ErasedUser> {
  return transaction(context, async (context) => {
    const { db } = context;
    await lockTenant(db, 'administrators');
    const { id } = await findUser(context, reference);
    await lockRow(db, 'users', id);
    const before = await findUser(context, id);
    if (isErased(before)) return { ...before, revokedKeys: [] };
    const name = `Erased user ${id}`;
    const personal = { jobTitle: null, department: null, phone: null, timeZone: null };
    const data = { name, email: erasedEmail(id), active: false, ...personal };
    const [row] = await db.user.updateManyAndReturn({ where: { id }, data });
    if (row === undefined) throw new Error('The locked user was deleted.');
    if (before.role === 'ADMIN') await assertAdministrator(db);

    await withdrawApprovals(context, id);
    const revokedKeys = await revokeUserKeys(context, id, {});
    const userId = id;
    await db.apiKey.updateMany({ where: { userId }, data: { name: redactedText, lastUsedAddress: null } });
    await db.session.deleteMany({ where: { userId } });
    await db.passkey.deleteMany({ where: { userId } });
    await db.password.deleteMany({ where: { userId } });
    await db.invitation.deleteMany({ where: { userId } });
    // The files of other administrators can also contain the user's address.
    await db.csvUpload.deleteMany({});
    await db.$sql(clearSubjects, { texts: [before.name, before.email] });
    await recordAudit(context, { action: 'user.erased', target: { type: 'user', id } });
    return { ...presentUser(row), revokedKeys };
  });
}

/** The number of users that `findErasable` names. */
const maxNamed = 10;

/**
 * Finds the user to erase. If no user has the email address, the message of the error names the users that were erased
 * last, because an operator can repeat an erasure.
 * @throws ApiError NOT_FOUND
 */
export async function findErasable(context: Context, reference: string | number): Promise<User> {
  return findUser(context, reference).catch(async (error: unknown) => {
    if (!(error instanceof ApiError) || typeof reference === 'number') throw error;
    const rows = await context.db.user.findMany({
      where: { email: { startsWith: 'erased-', endsWith: '@erased.invalid' } },
      orderBy: { updatedAt: 'desc' },
      take: maxNamed,
    });
    const erased = rows.map(presentUser).filter(isErased);
    if (erased.length === 0) throw error;
    const named = erased.map(({ id, updatedAt }) => `${id} (${updatedAt})`).join(', ');
    const hint = 'An erased user no longer has their address, so enter the ID instead. Users that were erased last:';
    throw new ApiError('NOT_FOUND', `${error.message} ${hint} ${named}.`);
  });
}

/** Deletes display names from audit entries of earlier releases if they contain one of the texts, in any case. */
const clearSubjects = command<{ texts: string[] }>(
  ({ texts }) => sql`UPDATE audit_entries SET subject = NULL WHERE tenant_id = ${tenant} AND subject IS NOT NULL
    AND EXISTS (SELECT FROM unnest(${texts}::text[]) AS text WHERE strpos(lower(subject), lower(text)) > 0)`,
);
