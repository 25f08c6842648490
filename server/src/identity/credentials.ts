import type { Databases } from '../database/databases.ts';
import { tenantClient } from '../database/tenant-client.ts';
import type { Account } from './account.ts';
import { endSessions } from './sessions.ts';

/** Ends the sessions of an account and forgets how it signed in: whoever else had any of it is out. */
export async function forgetCredentials(
  databases: Pick<Databases, 'accounts' | 'system'>,
  account: Account,
): Promise<void> {
  const { userId } = account;
  const db = tenantClient(databases.system, account.tenantId);
  await endSessions(databases, account, 'all');
  await db.passkey.deleteMany({ where: { userId } });
  await db.password.deleteMany({ where: { userId } });
}
