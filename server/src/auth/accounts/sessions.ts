import { sql } from '../../database/client/sql.ts';
import { allTenants } from '../../database/client/statements.ts';
import { tenantClient } from '../../database/client/tenant-client.ts';
import type { Origin } from '../../shared/actor.ts';
import { serializeTimestamp } from '../../shared/serialize.ts';
import {
  type Account,
  type AccountRow,
  type AccountStore,
  accountColumns,
  accountsOf,
  isSecured,
  lockAccount,
  toAccount,
} from './account.ts';
import { newToken, readToken, type TokenKey } from './token.ts';

/** The session of a signed-in user. */
export interface Session {
  id: bigint;
  account: Account;
  /**
   * Whether the account has a password or a passkey. If it has neither, the user can't sign in again after this session
   * ends.
   */
  secured: boolean;
}

/** The details of a session, as the developer area shows them to the user. */
export interface SessionDetails {
  id: number;
  address: string;
  userAgent: string;
  createdAt: string;
  lastSeenAt: string;
}

/**
 * The SQL condition for an active session. A session ends after 12 hours without a request, or 30 days after the
 * sign-in.
 */
const isActive = sql`s.ended_at IS NULL AND s.last_seen_at > now() - interval '12 hours' AND s.created_at > now() - interval '30 days'`;

/**
 * Creates a session.
 * @returns the value of the session cookie. The database stores only the hash of this value.
 */
export async function beginSession(
  { system }: AccountStore,
  { tenantId, userId }: Pick<Account, 'tenantId' | 'userId'>,
  { address, userAgent }: Origin,
): Promise<string> {
  const { text, hash } = newToken(tenantId);
  await system.prisma.session.create({ data: { tenantId, userId, hash, address, userAgent: userAgent.slice(0, 500) } });
  return text;
}

/**
 * Returns the session that a cookie identifies. Returns undefined if the session has ended, or if its user or workspace
 * is inactive. Sessions aren't cached, so ending a session takes effect immediately.
 * @throws ApiError SERVICE_UNAVAILABLE if the workspace is in maintenance
 */
export async function findSession({ accounts }: AccountStore, cookie: unknown): Promise<Session | undefined> {
  const token = readToken(cookie);
  if (token === undefined) return undefined;
  const [row] = await accounts.$sql(selectByToken, token);
  if (row === undefined) return undefined;
  const account = toAccount(row);
  if (row.stale) await accounts.$sql(touch, token);
  return { id: row.id, account, secured: row.secured };
}

interface SessionRow extends AccountRow {
  id: bigint;
  secured: boolean;
  stale: boolean;
}

const selectByToken = allTenants.rows<TokenKey, SessionRow>(
  ({ tenantId, hash }) => sql`
  SELECT s.id, ${accountColumns}, s.last_seen_at < now() - interval '1 minute' AS stale, ${isSecured} AS secured
  FROM sessions s ${accountsOf(sql`s`)} WHERE s.tenant_id = ${tenantId} AND s.hash = ${hash} AND ${isActive}`,
);

const touch = allTenants.command<TokenKey>(
  ({ tenantId, hash }) =>
    sql`UPDATE sessions SET last_seen_at = now() WHERE tenant_id = ${tenantId} AND hash = ${hash}`,
);

interface DetailsRow {
  id: bigint;
  address: string;
  user_agent: string;
  created_at: Date;
  last_seen_at: Date;
}

const selectOfUser = allTenants.rows<Pick<Account, 'tenantId' | 'userId'>, DetailsRow>(
  ({ tenantId, userId }) => sql`
    SELECT id, address, user_agent, created_at, last_seen_at FROM sessions s
    WHERE tenant_id = ${tenantId} AND user_id = ${userId} AND ${isActive} ORDER BY id DESC LIMIT 100`,
);

/** Returns the active sessions of an account, newest first. */
export async function listSessions(
  { accounts }: AccountStore,
  { tenantId, userId }: Account,
): Promise<SessionDetails[]> {
  const rows = await accounts.$sql(selectOfUser, { tenantId, userId });
  return rows.map((row) => ({
    id: Number(row.id),
    address: row.address,
    userAgent: row.user_agent,
    createdAt: serializeTimestamp(row.created_at),
    lastSeenAt: serializeTimestamp(row.last_seen_at),
  }));
}

/**
 * Locks a session's account until the end of the transaction. The lock prevents other transactions from ending the
 * session or changing the account's credentials. Returns false if the session has ended or the account no longer has
 * access.
 */
export async function lockSession({ system }: AccountStore, { id, account }: Session): Promise<boolean> {
  const db = tenantClient(system, account.tenantId);
  return (await lockAccount(db, account)) && (await db.session.count({ where: { id, endedAt: null } })) === 1;
}

/** Ends one session, all sessions except one, or all sessions of an account. @returns the number of ended sessions */
export async function endSessions(
  { system }: AccountStore,
  { tenantId, userId }: Account,
  which: { id: number | bigint } | { butId: bigint } | 'all',
): Promise<number> {
  const filter = which === 'all' ? {} : { id: 'id' in which ? which.id : { not: which.butId } };
  const { count } = await tenantClient(system, tenantId).session.updateMany({
    where: { userId, ...filter, endedAt: null },
    data: { endedAt: new Date() },
  });
  return count;
}

/** Stores the id of a flash message in the session. `consumeFlash` accepts each stored id only once. */
export async function setFlash({ system }: AccountStore, { id, account }: Session, flash: string): Promise<void> {
  await tenantClient(system, account.tenantId).session.updateMany({ where: { id }, data: { flash } });
}

/** Removes the id of a flash message from the session. Returns false if the session doesn't contain this id. */
export async function consumeFlash(
  { system }: AccountStore,
  { id, account }: Session,
  flash: string,
): Promise<boolean> {
  const update = { where: { id, flash }, data: { flash: null } };
  return (await tenantClient(system, account.tenantId).session.updateMany(update)).count === 1;
}
