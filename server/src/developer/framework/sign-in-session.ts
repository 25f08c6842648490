import { type Account, lockAccount, workspaceOf } from '../../auth/accounts/account.ts';
import { recordAudit } from '../../resources/audit/audit-entry.ts';
import { ApiError } from '../../shared/errors.ts';
import type { RequestContext } from './request-context.ts';

/**
 * Starts a session for an account and writes the audit entry in the same transaction.
 * @param how the sign-in method, for the audit entry
 * @param prepare runs at the start of the transaction; resolves to false if the credential is no longer valid
 * @throws ApiError VALIDATION_ERROR if the account or the credential is no longer valid
 */
export async function signInAccount(
  { accounts, browser, from }: RequestContext,
  account: Account,
  how: string,
  prepare: () => Promise<boolean>,
): Promise<void> {
  const { userId } = account;
  const db = workspaceOf(accounts, account);
  await db.$transaction(async () => {
    // If another request deactivates the user at the same time, that request waits for this lock, and then also ends
    // this session.
    if (!(await lockAccount(db, account)) || !(await prepare())) {
      throw new ApiError('VALIDATION_ERROR', 'The sign-in method of this account was changed. Sign in again.');
    }
    await recordAudit(
      { db, userId, from: () => from },
      { action: 'session.began', target: { type: 'user', id: userId }, changes: { method: { from: null, to: how } } },
    );
    await browser.signIn(account);
  });
}
