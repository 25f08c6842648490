import { sql } from '../../database/client/sql.ts';
import { allTenants } from '../../database/client/statements.ts';
import { type AuditContext, recordAudit } from '../../resources/audit/audit-entry.ts';
import { transaction } from '../../resources/shared/context.ts';
import { ApiError, notFound } from '../../shared/errors.ts';
import {
  type Account,
  type AccountRow,
  type AccountStore,
  accountColumns,
  accountsOf,
  isSecured,
  toAccount,
} from './account.ts';
import { newToken, readToken, type TokenKey } from './token.ts';

/** The number of days that an invitation link is valid. */
export const invitationDays = 7;
const dayMs = 86_400_000;

/** An unused invitation. */
export interface Invitation {
  /** The invited user. */
  account: Account;
  /**
   * Whether the link is a demo link, which lets the user sign in without credentials. The server prints a demo link on
   * its first start.
   */
  demo: boolean;
  /** Whether the account already has a password or a passkey. */
  secured: boolean;
}

/**
 * Invites a user to the developer area. The invitation link is valid for `invitationDays` days and works only once. The
 * user's earlier invitation links become invalid.
 * @returns the token for the link. The database stores only a hash of the token.
 * @throws ApiError VALIDATION_ERROR if the user is inactive, or is a service account or a REQUESTER
 */
export function createInvitation(
  context: AuditContext,
  userId: number | bigint,
  { demo = false } = {},
): Promise<string> {
  return transaction(context, async (context) => {
    const { db } = context;
    const user = await db.user.findFirst({
      where: { id: userId },
      select: { email: true, active: true, role: true, kind: true },
    });
    if (user === null) throw notFound('user');
    if (!user.active) throw new ApiError('VALIDATION_ERROR', `${user.email} is inactive. Reactivate the user first.`);
    if (user.kind === 'SERVICE') {
      throw new ApiError(
        'VALIDATION_ERROR',
        `${user.email} belongs to a service account, which can't sign in. Create an API key for it instead.`,
      );
    }
    if (user.role === 'REQUESTER') {
      throw new ApiError(
        'VALIDATION_ERROR',
        `${user.email} has the role REQUESTER, which can't use the developer area. Change the role to AGENT or ADMIN first.`,
      );
    }
    const { text, hash } = newToken(db.$tenantId);
    await db.invitation.updateMany({ where: { userId, usedAt: null }, data: { usedAt: new Date() } });
    const expiresAt = new Date(Date.now() + invitationDays * dayMs);
    await db.invitation.createMany({ data: [{ userId: BigInt(userId), hash, demo, expiresAt }] });
    await recordAudit(context, { action: 'user.invited', target: { type: 'user', id: userId } });
    return text;
  });
}

/** Returns the invitation link for a token. @param publicUrl the URL that browsers use to reach the server */
export function invitationLink(publicUrl: string, token: string): string {
  return new URL(`/developer/join?token=${token}`, publicUrl).href;
}

const isValid = sql`i.used_at IS NULL AND i.expires_at > now()`;

const selectValid = allTenants.rows<TokenKey, AccountRow & { demo: boolean; secured: boolean }>(
  ({ tenantId, hash }) => sql`
    SELECT i.demo, ${isSecured} AS secured, ${accountColumns} FROM invitations i ${accountsOf(sql`i`)}
    WHERE i.tenant_id = ${tenantId} AND i.hash = ${hash} AND ${isValid}`,
);

/** Looks up an invitation by the token in its link. Returns undefined if the token is unknown, used or expired. */
export async function findInvitation(
  { accounts }: Pick<AccountStore, 'accounts'>,
  text: string,
): Promise<Invitation | undefined> {
  const token = readToken(text);
  if (token === undefined) return undefined;
  const [row] = await accounts.$sql(selectValid, token);
  return row && { account: toAccount(row), demo: row.demo, secured: row.secured };
}

/**
 * Marks an invitation as used. Returns whether the token from the invitation link was valid. If several concurrent
 * calls use the same token, only one call returns true.
 */
export async function useInvitation({ system }: Pick<AccountStore, 'system'>, text: string): Promise<boolean> {
  const token = readToken(text);
  if (token === undefined) return false;
  return (await system.prisma.$sql(markUsed, token)) === 1;
}

const markUsed = allTenants.command<TokenKey>(
  ({ tenantId, hash }) => sql`
    UPDATE invitations i SET used_at = now() WHERE i.tenant_id = ${tenantId} AND i.hash = ${hash} AND ${isValid}`,
);
