import { tenantClient } from '../database/tenant-client.ts';
import type { Account } from '../identity/account.ts';
import { recordAudit } from '../resources/audit/queries.ts';
import type { Visit } from './visit.ts';

/** Writes into the audit log what an account does before it is signed in. */
export function recordFor(
  { databases, from }: Visit,
  { tenantId, userId }: Account,
  action: string,
  subject: string,
): Promise<void> {
  return recordAudit({ db: tenantClient(databases.system, tenantId), userId }, { action, subject, ...from });
}

/** Signs an account in. @param how that is, as the audit log says it */
export async function enter(visit: Visit, account: Account, how: string): Promise<void> {
  await recordFor(visit, account, 'session.began', how);
  await visit.browser.signIn(account);
}
