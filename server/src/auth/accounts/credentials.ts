import { type Account, type AccountStore, workspaceOf } from './account.ts';
import { endSessions } from './sessions.ts';

/** Ends all sessions of an account, and deletes its passkeys and password. */
export async function deleteCredentials(accounts: AccountStore, account: Account): Promise<void> {
  const { userId } = account;
  const db = workspaceOf(accounts, account);
  await endSessions(accounts, account, 'all');
  await db.passkey.deleteMany({ where: { userId } });
  await db.password.deleteMany({ where: { userId } });
}
