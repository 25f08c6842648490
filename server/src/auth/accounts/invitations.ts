import type { TenantClient } from '../../database/client/tenant-client.ts';
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
import { newToken, readToken } from './token.ts';

/** How long a link works. Days. */
export const invitationDays = 7;
const dayMs = 86_400_000;

/** A link that was found. */
export interface Invitation {
  /** For whom it is. */
  account: Account;
  /** Whether it lets in without more, as that of a first start does. */
  demo: boolean;
  /** Whether the account has something to sign in with. */
  secured: boolean;
}

/**
 * Invites a user to the developer area, once and for a week; the links that they had before work no more.
 * @returns the token of the link, which nobody can find out afterwards
 * @throws ApiError VALIDATION_ERROR for a user who is inactive or may not be there
 */
export async function createInvitation(
  { db }: { db: TenantClient },
  userId: number | bigint,
  { demo = false } = {},
): Promise<string> {
  const user = await db.user.findFirst({ where: { id: userId }, select: { email: true, active: true, role: true } });
  if (user === null) throw notFound('user');
  if (!user.active) throw new ApiError('VALIDATION_ERROR', `${user.email} is inactive. Reactivate the user first.`);
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
  return text;
}

/** The link that a token is passed on in. @param publicUrl where browsers find the server */
export function invitationLink(publicUrl: string, token: string): string {
  return new URL(`/developer/join?token=${token}`, publicUrl).href;
}

const working = 'i.used_at IS NULL AND i.expires_at > now()';

/** The invitation of a link; undefined where it was used, has expired or never was. */
export async function findInvitation(
  { accounts }: Pick<AccountStore, 'accounts'>,
  text: string,
): Promise<Invitation | undefined> {
  const token = readToken(text);
  if (token === undefined) return undefined;
  const { rows }: { rows: (AccountRow & { demo: boolean; secured: boolean })[] } = await accounts.query(
    `SELECT i.demo, ${isSecured} AS secured, ${accountColumns} FROM invitations i ${accountsOf('i')}
     WHERE i.tenant_id = $1 AND i.hash = $2 AND ${working}`,
    [token.tenantId, token.hash],
  );
  const [row] = rows;
  return row && { account: toAccount(row), demo: row.demo, secured: row.secured };
}

/** Uses a link up. @returns whether it still worked: of those who try at once, one is told so */
export async function useInvitation({ system }: Pick<AccountStore, 'system'>, text: string): Promise<boolean> {
  const token = readToken(text);
  if (token === undefined) return false;
  const { rowCount } = await system.pool.query(
    `UPDATE invitations i SET used_at = now() WHERE i.tenant_id = $1 AND i.hash = $2 AND ${working}`,
    [token.tenantId, token.hash],
  );
  return rowCount === 1;
}
