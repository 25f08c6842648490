import * as z from 'zod';
import type { Databases } from '../database/databases.ts';
import { tenantClient } from '../database/tenant-client.ts';
import { ApiError } from '../errors.ts';
import { type Account, type AccountRow, accountColumns, accountsOf, toAccount } from './account.ts';
import { checkStrength, hashPassword, isPassword } from './passwords.ts';
import { countAttempt } from './sign-in-throttle.ts';

interface Given {
  /** In lower case. */
  email: string;
  password: string;
  /** IP address. */
  address: string;
  /** Whether the browser has signed in to an account before. */
  isKnown(account: Account): boolean;
}

/** In so many workspaces, at most, one e-mail address is looked for: each costs a hash. */
const mostAccounts = 10;

/**
 * The accounts of an e-mail address that have this password: usually one. The same person may be in several workspaces,
 * with a password for each.
 * @throws ApiError RATE_LIMIT_EXCEEDED, or VALIDATION_ERROR when there is none, which doesn't tell why
 */
export async function signInByPassword(
  databases: Pick<Databases, 'accounts' | 'system'>,
  { email, password, address, isKnown }: Given,
): Promise<Account[]> {
  const { rows }: { rows: (AccountRow & { hash: string })[] } = await databases.accounts.query(byEmail, [email]);
  const candidates = rows.map((row) => ({ account: toAccount(row), hash: row.hash }));
  const { refusal, takeBack } = await countAttempt(databases, { email, address });
  // Each by itself: who has an account of the same address elsewhere isn't known to this one.
  const tried = refusal === undefined ? candidates : candidates.filter(({ account }) => isKnown(account));
  if (refusal !== undefined && tried.length === 0) throw refusal;
  const found: Account[] = [];
  for (const { account, hash } of tried) if (await isPassword(password, hash)) found.push(account);
  if (tried.length === 0) await isPassword(password, undefined);
  if (found.length === 0) {
    throw new ApiError('VALIDATION_ERROR', 'No account has this e-mail address and this password.');
  }
  await takeBack();
  return found;
}

const byEmail = `
  SELECT p.hash, ${accountColumns} FROM passwords p ${accountsOf('p')}
  WHERE u.email = $1 ORDER BY u.tenant_id LIMIT ${mostAccounts}`;

/** A password that somebody chooses; how good it is, `checkPassword` says. */
export const NewPassword = z
  .string()
  .min(12, 'must have at least 12 characters')
  .max(200, 'must have at most 200 characters');

/** @throws ApiError VALIDATION_ERROR at `password` for one that is easily guessed */
export { checkStrength as checkPassword } from './passwords.ts';

/** Gives an account a password, in place of the one that it had. @throws ApiError VALIDATION_ERROR for a weak one */
export async function setPassword(
  { system }: Pick<Databases, 'system'>,
  account: Account,
  password: string,
): Promise<void> {
  await checkStrength(password, account);
  const hash = await hashPassword(password);
  const { tenantId, userId } = account;
  const own = { tenantId, userId };
  await system.prisma.password.upsert({
    where: { tenantId_userId: own },
    create: { ...own, hash },
    update: { hash },
  });
}

/** Whether an account has a password. */
export async function hasPassword(
  { system }: Pick<Databases, 'system'>,
  { tenantId, userId }: Account,
): Promise<boolean> {
  return (await tenantClient(system, tenantId).password.count({ where: { userId } })) > 0;
}

/**
 * Whether it is the password that an account has.
 * @throws ApiError RATE_LIMIT_EXCEEDED, since a session that was left open is no way to find it out
 */
export async function isOwnPassword(
  databases: Pick<Databases, 'system'>,
  { tenantId, userId, email }: Account,
  { password, address }: { password: string; address: string },
): Promise<boolean> {
  const { takeBack } = await countAttempt(databases, { email, address });
  const row = await tenantClient(databases.system, tenantId).password.findFirst({ where: { userId } });
  const is = await isPassword(password, row?.hash);
  if (is) await takeBack();
  return is;
}
