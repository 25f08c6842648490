import * as z from 'zod';
import { tenantClient } from '../../database/client/tenant-client.ts';
import { ApiError } from '../../shared/errors.ts';
import { type Account, type AccountRow, type AccountStore, accountColumns, accountsOf, toAccount } from './account.ts';
import { checkStrength } from './password-strength.ts';
import { hashPassword, isPassword } from './passwords.ts';
import { countAttempt } from './sign-in-throttle.ts';
import { sha256 } from './token.ts';

interface Given {
  /** In lower case. */
  email: string;
  password: string;
  /** IP address. */
  address: string;
  /** Whether the browser has signed in to an account before. */
  isKnown(account: Pick<Account, 'tenantId' | 'userId'>): boolean;
}

/** In so many workspaces, at most, one e-mail address is looked for: each costs a hash. */
const mostAccounts = 10;

/** An account whose password was right, and what tells whether it is still that one. */
export interface PasswordSignIn {
  account: Pick<Account, 'tenantId' | 'userId'>;
  /** Of what is stored of the password: SHA-256. */
  password: string;
}

/**
 * The accounts of an e-mail address that have this password: usually one. The same person may be in several workspaces,
 * with a password for each.
 * @throws ApiError RATE_LIMIT_EXCEEDED, or VALIDATION_ERROR when there is none, which doesn't tell why
 */
export async function signInByPassword(
  databases: AccountStore,
  { email, password, address, isKnown }: Given,
): Promise<(PasswordSignIn & { account: Account })[]> {
  const { rows }: { rows: (AccountRow & { hash: string })[] } = await databases.accounts.query(byEmail, [email]);
  const candidates = rows.map((row) => ({ account: toAccount(row), hash: row.hash }));
  const { refusal, takeBack, takeBackOfNetwork } = await countAttempt(databases, { email, address });
  // Each by itself: who has an account of the same address elsewhere isn't known to this one.
  const tried = refusal === undefined ? candidates : candidates.filter(({ account }) => isKnown(account));
  if (refusal !== undefined && tried.length === 0) throw refusal;
  const found: (PasswordSignIn & { account: Account })[] = [];
  try {
    for (const { account, hash } of tried) {
      if (await isPassword(password, hash)) found.push({ account, password: digestOf(hash) });
    }
    if (tried.length === 0) await isPassword(password, undefined);
  } catch (error) {
    await takeBack();
    throw error;
  }
  if (found.length === 0) {
    throw new ApiError('VALIDATION_ERROR', 'The email address or the password is incorrect. Check both and try again.');
  }
  // Who has an account of the same address, and with it a password that is right, guesses at the others all the same.
  await (found.length === tried.length ? takeBack() : takeBackOfNetwork());
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

/**
 * What is kept of a password that an account chooses.
 * @throws ApiError VALIDATION_ERROR at `password` for one that is easily guessed, RATE_LIMIT_EXCEEDED
 */
export async function checkPassword(account: Account, password: string): Promise<string> {
  await checkStrength(password, account);
  return hashPassword(password);
}

/** Gives an account a password, in place of the one that it had. @param hash as `checkPassword` makes it */
export async function savePassword(
  { system }: Pick<AccountStore, 'system'>,
  { tenantId, userId }: Account,
  hash: string,
): Promise<void> {
  const own = { tenantId, userId };
  await system.prisma.password.upsert({
    where: { tenantId_userId: own },
    create: { ...own, hash },
    update: { hash },
  });
}

/** Whether the account has the same password still. */
export async function hasSamePassword(
  { system }: Pick<AccountStore, 'system'>,
  { account: { tenantId, userId }, password }: PasswordSignIn,
): Promise<boolean> {
  const row = await tenantClient(system, tenantId).password.findFirst({ where: { userId } });
  return row !== null && digestOf(row.hash) === password;
}

function digestOf(hash: string): string {
  return Buffer.from(sha256(hash)).toString('base64url');
}

/** Whether an account has a password. */
export async function hasPassword(
  { system }: Pick<AccountStore, 'system'>,
  { tenantId, userId }: Account,
): Promise<boolean> {
  return (await tenantClient(system, tenantId).password.count({ where: { userId } })) > 0;
}

/**
 * Whether it is the password that an account has.
 * @throws ApiError RATE_LIMIT_EXCEEDED, since a session that was left open is no way to find it out
 */
export async function isOwnPassword(
  databases: Pick<AccountStore, 'system'>,
  { tenantId, userId, email }: Account,
  { password, address }: { password: string; address: string },
): Promise<boolean> {
  const { takeBack } = await countAttempt(databases, { email, address });
  const row = await tenantClient(databases.system, tenantId).password.findFirst({ where: { userId } });
  const is = await isPassword(password, row?.hash).catch(async (error: unknown) => {
    await takeBack();
    throw error;
  });
  if (is) await takeBack();
  return is;
}
