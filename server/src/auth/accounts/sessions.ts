import { tenantClient } from '../../database/client/tenant-client.ts';
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
import { newToken, readToken } from './token.ts';

/** Where a request came from, as sessions and the audit log keep it. */
export interface Origin {
  /** IP address. */
  address: string;
  userAgent: string;
}

/** Somebody who is signed in. */
export interface Session {
  id: bigint;
  account: Account;
  /** Whether the account has a password or a passkey, so that its user gets in again. */
  secured: boolean;
}

/** What is shown of a session. */
export interface SessionDetails {
  id: number;
  address: string;
  userAgent: string;
  createdAt: string;
  lastSeenAt: string;
}

/** A session that nothing was heard of for that long is over; so is one that began 30 days ago, whatever happened. */
const alive = `s.ended_at IS NULL AND s.last_seen_at > now() - interval '12 hours' AND s.created_at > now() - interval '30 days'`;

/** Begins a session. @returns what the cookie holds, which nobody can find out afterwards */
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
 * The session of a cookie. Undefined where it is over, and its user or workspace inactive: it is looked at for each
 * request, so what ends a session does so at once.
 */
export async function findSession({ accounts }: AccountStore, cookie: unknown): Promise<Session | undefined> {
  const token = readToken(cookie);
  if (token === undefined) return undefined;
  const values = [token.tenantId, token.hash];
  const { rows }: { rows: SessionRow[] } = await accounts.query(find, values);
  const [row] = rows;
  if (row === undefined) return undefined;
  if (row.stale) await accounts.query(touch, values);
  return { id: BigInt(row.id), account: toAccount(row), secured: row.secured };
}

interface SessionRow extends AccountRow {
  id: string;
  secured: boolean;
  stale: boolean;
}

const find = `
  SELECT s.id, ${accountColumns}, s.last_seen_at < now() - interval '1 minute' AS stale, ${isSecured} AS secured
  FROM sessions s ${accountsOf('s')} WHERE s.tenant_id = $1 AND s.hash = $2 AND ${alive}`;

const touch = 'UPDATE sessions SET last_seen_at = now() WHERE tenant_id = $1 AND hash = $2';

interface FactsRow {
  id: string;
  address: string;
  user_agent: string;
  created_at: Date;
  last_seen_at: Date;
}

/** The sessions of an account that are not over, newest first. */
export async function listSessions(
  { accounts }: AccountStore,
  { tenantId, userId }: Account,
): Promise<SessionDetails[]> {
  const { rows }: { rows: FactsRow[] } = await accounts.query(
    `SELECT id, address, user_agent, created_at, last_seen_at FROM sessions s
     WHERE tenant_id = $1 AND user_id = $2 AND ${alive} ORDER BY id DESC LIMIT 100`,
    [tenantId, userId],
  );
  return rows.map((row) => ({
    id: Number(row.id),
    address: row.address,
    userAgent: row.user_agent,
    createdAt: serializeTimestamp(row.created_at),
    lastSeenAt: serializeTimestamp(row.last_seen_at),
  }));
}

/**
 * Whether a session goes on; if so, it does until the end of the transaction, and nobody else changes meanwhile how its
 * account signs in.
 */
export async function lockSession({ system }: AccountStore, { id, account }: Session): Promise<boolean> {
  const db = tenantClient(system, account.tenantId);
  return (await lockAccount(db, account)) && (await db.session.count({ where: { id, endedAt: null } })) === 1;
}

/** Ends sessions of an account: one, all but one, or all. @returns how many were ended */
export async function endSessions(
  { system }: AccountStore,
  { tenantId, userId }: Account,
  which: { id: number | bigint } | { butId: bigint } | 'all',
): Promise<number> {
  const those = which === 'all' ? {} : { id: 'id' in which ? which.id : { not: which.butId } };
  const { count } = await tenantClient(system, tenantId).session.updateMany({
    where: { userId, ...those, endedAt: null },
    data: { endedAt: new Date() },
  });
  return count;
}

/** Lets the session show something once, known by `flash`. */
export async function setFlash({ system }: AccountStore, { id, account }: Session, flash: string): Promise<void> {
  await tenantClient(system, account.tenantId).session.updateMany({ where: { id }, data: { flash } });
}

/** Whether what is known by `flash` may be shown now; never again after that. */
export async function consumeFlash(
  { system }: AccountStore,
  { id, account }: Session,
  flash: string,
): Promise<boolean> {
  const taken = { where: { id, flash }, data: { flash: null } };
  return (await tenantClient(system, account.tenantId).session.updateMany(taken)).count === 1;
}
