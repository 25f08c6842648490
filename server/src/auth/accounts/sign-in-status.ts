import { sql } from '../../database/client/sql.ts';
import { allTenants } from '../../database/client/statements.ts';
import { serializeTimestamp } from '../../shared/serialize.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import { type AccountStore, isSecured } from './account.ts';

/** Whether and when a user has signed in to the developer area. */
export interface SignInStatus {
  /** The time of the last sign-in, or null if the user has never signed in. */
  lastSignInAt: string | null;
  /**
   * When the user's invitation link expires or expired, or null. Set only for users who were invited and haven't joined:
   * they have an unused invitation, and neither a password nor a passkey.
   */
  invitedUntil: string | null;
}

/**
 * SQL that selects the unused invitation of the user in `users u`. A user has at most one unused invitation, because a
 * new invitation replaces the earlier ones.
 */
const openInvitation = sql`SELECT i.expires_at FROM invitations i
  WHERE i.tenant_id = u.tenant_id AND i.user_id = u.id AND i.used_at IS NULL AND NOT ${isSecured}
  ORDER BY i.id DESC LIMIT 1`;

interface StatusRow {
  id: bigint;
  invited_until: Date | null;
  signed_in_at: Date | null;
}

const selectStatus = allTenants.rows<{ tenantId: TenantId; userIds: readonly number[] }, StatusRow>(
  ({ tenantId, userIds }) => sql`SELECT u.id, (${openInvitation}) AS invited_until,
    (SELECT s.created_at FROM sessions s WHERE s.tenant_id = u.tenant_id AND s.user_id = u.id ORDER BY s.id DESC LIMIT 1)
      AS signed_in_at
  FROM users u WHERE u.tenant_id = ${tenantId} AND u.id = ANY (${userIds}::bigint[])`,
);

/** Returns a map from user id to the status. Contains only users of the tenant. */
export async function findSignInStatus(
  { accounts }: Pick<AccountStore, 'accounts'>,
  tenantId: TenantId,
  userIds: readonly number[],
): Promise<Map<number, SignInStatus>> {
  const rows = await accounts.$sql(selectStatus, { tenantId, userIds });
  return new Map(
    rows.map(({ id, invited_until, signed_in_at }) => [
      Number(id),
      {
        lastSignInAt: signed_in_at && serializeTimestamp(signed_in_at),
        invitedUntil: invited_until && serializeTimestamp(invited_until),
      },
    ]),
  );
}

/** The maximum number of ids that `listInvitedUsers` returns. */
const maxInvited = 1000;

/** Returns the ids of the active users who were invited and haven't joined, newest first, at most 1,000. */
export async function listInvitedUsers(
  { accounts }: Pick<AccountStore, 'accounts'>,
  tenantId: TenantId,
): Promise<number[]> {
  return (await accounts.$sql(selectInvited, { tenantId })).map(({ id }) => Number(id));
}

const selectInvited = allTenants.rows<{ tenantId: TenantId }, { id: bigint }>(
  ({ tenantId }) => sql`
    SELECT DISTINCT u.id FROM invitations i JOIN users u ON u.tenant_id = i.tenant_id AND u.id = i.user_id
    WHERE i.tenant_id = ${tenantId} AND i.used_at IS NULL AND u.active AND NOT ${isSecured}
    ORDER BY u.id DESC LIMIT ${maxInvited}`,
);
