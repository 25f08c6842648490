import { maxUserAgentLength, recordAudit } from '../../resources/audit/audit-entry.ts';
import type { Origin } from '../../shared/actor.ts';
import { type Account, type AccountStore, lockAccount, workspaceOf } from './account.ts';

/** The number of milliseconds in which the audit log counts the failed sign-ins of an account in one entry. */
const windowMs = 15 * 60_000;
const action = 'session.failed';

/** The accounts with a running write, and the number of attempts that wait for its end. */
const waiting = new Map<string, number>();

/**
 * Records failed sign-ins in the audit log of the account's workspace. The entry contains the client of a recent
 * attempt. Runs in the background, because a slower response would reveal that the account exists. At most one write
 * per account runs at the same time, so that many attempts don't use up the connections.
 */
export function recordFailedSignIn(databases: AccountStore, account: Account, from: Origin, attempts = 1): void {
  const key = `${account.tenantId}:${account.userId}`;
  const others = waiting.get(key);
  if (others !== undefined) {
    waiting.set(key, others + attempts);
    return;
  }
  waiting.set(key, 0);
  // If the database is unavailable, the server has already logged the outage.
  write(databases, account, { from, attempts })
    .catch(() => undefined)
    .finally(() => {
      const remaining = waiting.get(key) ?? 0;
      waiting.delete(key);
      if (remaining > 0) recordFailedSignIn(databases, account, from, remaining);
    });
}

async function write(
  databases: AccountStore,
  account: Account,
  { from, attempts }: { from: Origin; attempts: number },
): Promise<void> {
  const db = workspaceOf(databases, account);
  const target = { type: 'user', id: account.userId } as const;
  const where = { action, targetType: 'user', targetId: account.userId, at: { gt: new Date(Date.now() - windowMs) } };
  await db.$transaction(async () => {
    // The lock prevents two processes from creating two entries.
    if (!(await lockAccount(db, account))) return;
    const isNew = (await db.auditEntry.count({ where })) === 0;
    if (isNew) await recordAudit({ db, from: () => from }, { action, target });
    await db.auditEntry.updateMany({
      where,
      data: {
        ...{ count: { increment: isNew ? attempts - 1 : attempts } },
        ...{ address: from.address, userAgent: from.userAgent.slice(0, maxUserAgentLength) },
      },
    });
  });
}
