import { type Account, lockAccount, workspaceOf } from '../../auth/accounts/account.ts';
import { inTransaction } from '../../database/client/transaction.ts';
import { recordAudit } from '../../resources/audit/queries.ts';
import { ApiError } from '../../shared/errors.ts';
import type { RequestContext } from './request-context.ts';

/**
 * Signs an account in, with the entry in the audit log and what else belongs to it in one transaction: all of it is there
 * afterwards, or nothing.
 * @param how that is, as the audit log says it
 * @param prepare does what belongs to it before; resolves to false where what it signs in with is good no more
 */
export async function signInAccount(
  { accounts, browser, from }: RequestContext,
  account: Account,
  how: string,
  prepare: () => Promise<boolean>,
): Promise<void> {
  const { userId } = account;
  const db = workspaceOf(accounts, account);
  await inTransaction(db, async () => {
    // Who takes the right from them meanwhile waits, and finds the session that is to end.
    if (!(await lockAccount(db, account)) || !(await prepare())) {
      throw new ApiError('VALIDATION_ERROR', 'The sign-in method of this account was changed. Sign in again.');
    }
    await recordAudit({ db, userId }, { action: 'session.began', subject: how, ...from });
    await browser.signIn(account);
  });
}
