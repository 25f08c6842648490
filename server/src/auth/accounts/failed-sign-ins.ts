import { inTransaction } from '../../database/client/transaction.ts';
import { maxUserAgentLength, recordAudit } from '../../resources/audit/audit-entry.ts';
import type { Origin } from '../../shared/actor.ts';
import { type Account, type AccountStore, lockAccount, workspaceOf } from './account.ts';

/** The number of milliseconds in which the audit log counts the failed sign-ins of an account in one entry. */
const windowMs = 15 * 60_000;
const action = 'session.failed';

/**
 * Records a failed sign-in in the audit log of the account's workspace. The entry contains the client of the last
 * attempt. Runs in the background, because a slower response would reveal that the account exists.
 */
export function recordFailedSignIn(databases: AccountStore, account: Account, from: Origin): void {
  const db = workspaceOf(databases, account);
  const target = { type: 'user', id: account.userId } as const;
  const recorded = inTransaction(db, async () => {
    // The lock prevents two concurrent attempts from creating two entries.
    if (!(await lockAccount(db, account))) return;
    const { count } = await db.auditEntry.updateMany({
      where: { action, targetType: 'user', targetId: account.userId, at: { gt: new Date(Date.now() - windowMs) } },
      data: { count: { increment: 1 }, address: from.address, userAgent: from.userAgent.slice(0, maxUserAgentLength) },
    });
    if (count === 0) await recordAudit({ db, from: () => from }, { action, target });
  });
  // If the database is unavailable, the server has already logged the outage.
  recorded.catch(() => undefined);
}
