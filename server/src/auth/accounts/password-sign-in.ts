import * as z from 'zod';
import { sql } from '../../database/client/sql.ts';
import { allTenants } from '../../database/client/statements.ts';
import { tenantClient } from '../../database/client/tenant-client.ts';
import { ApiError, maintenanceError } from '../../shared/errors.ts';
import {
  type Account,
  type AccountRow,
  type AccountStore,
  accountColumns,
  accountsOf,
  presentAccount,
} from './account.ts';
import { recordFailedSignIn } from './failed-sign-ins.ts';
import { checkStrength } from './password-strength.ts';
import { hashPassword, isPassword } from './passwords.ts';
import { countAttempt } from './sign-in-throttle.ts';
import { sha256 } from './token.ts';

interface Credentials {
  /** The email address in lower case. */
  email: string;
  password: string;
  /** The IP address of the client. */
  address: string;
  userAgent: string;
  /** Returns whether this browser has signed in to the account before. */
  isKnown(account: Pick<Account, 'tenantId' | 'userId'>): boolean;
}

/** The maximum number of accounts to check for one email address. Each check computes an expensive hash. */
const maxAccounts = 10;

/**
 * A sign-in with a correct password. The digest in `password` shows whether the password has changed since the sign-in.
 */
export interface PasswordSignIn {
  account: Pick<Account, 'tenantId' | 'userId'>;
  /** The SHA-256 digest of the stored password hash. */
  password: string;
}

/**
 * Returns the accounts with this email address and password. Usually, only one account matches. If a person has
 * accounts in several workspaces with the same password, all of them match. Omits accounts of workspaces in maintenance.
 * @throws ApiError RATE_LIMIT_EXCEEDED after too many failures, or VALIDATION_ERROR if no account matches. The message
 * doesn't reveal whether the email address or the password is incorrect. Throws SERVICE_UNAVAILABLE if all matching
 * accounts belong to workspaces in maintenance.
 */
export async function signInByPassword(
  databases: AccountStore,
  { email, password, address, userAgent, isKnown }: Credentials,
): Promise<(PasswordSignIn & { account: Account })[]> {
  const rows = await databases.accounts.$sql(selectByEmail, { email });
  const candidates = rows.map((row) => ({
    account: presentAccount(row),
    hash: row.hash,
    isInMaintenance: row.is_in_maintenance,
  }));
  const { rejection, takeBack, takeBackOfNetwork } = await countAttempt(databases, { email, address });
  // Checks each account separately, because the browser may have signed in to only some of the accounts with this email
  // address.
  const checked = rejection === undefined ? candidates : candidates.filter(({ account }) => isKnown(account));
  if (rejection !== undefined && checked.length === 0) throw rejection;
  const found: typeof checked = [];
  try {
    for (const each of checked) if (await isPassword(password, each.hash)) found.push(each);
    if (checked.length === 0) await isPassword(password, undefined);
  } catch (error) {
    await takeBack();
    throw error;
  }
  if (found.length === 0) {
    for (const each of checked) {
      if (!each.isInMaintenance) recordFailedSignIn(databases, each.account, { address, userAgent });
    }
    throw new ApiError('VALIDATION_ERROR', 'The email address or the password is incorrect. Check both and try again.');
  }
  // If the password matches only some of the accounts, the attempt still counts as a failure for the email address.
  await (found.length === checked.length ? takeBack() : takeBackOfNetwork());
  const available = found.filter((each) => !each.isInMaintenance);
  if (available.length === 0) throw maintenanceError();
  return available.map(({ account, hash }) => ({ account, password: toDigest(hash) }));
}

const selectByEmail = allTenants.rows<{ email: string }, AccountRow & { hash: string }>(
  ({ email }) => sql`
  SELECT p.hash, ${accountColumns} FROM passwords p ${accountsOf(sql`p`)}
  WHERE u.email = ${email} ORDER BY u.tenant_id LIMIT ${maxAccounts}`,
);

/** The schema for a new password. It checks only the length, because `checkPassword` checks the strength. */
export const NewPassword = z
  .string()
  .min(12, 'must have at least 12 characters')
  .max(200, 'must have at most 200 characters');

/**
 * Checks the strength of a new password and returns its hash.
 * @throws ApiError VALIDATION_ERROR at `password` if the password is easy to guess, or RATE_LIMIT_EXCEEDED if too many
 * checks are queued
 */
export async function checkPassword(account: Account, password: string): Promise<string> {
  await checkStrength(password, account);
  return hashPassword(password);
}

/** Sets the password of an account. @param hash the result of `checkPassword` */
export async function savePassword(
  { system }: Pick<AccountStore, 'system'>,
  { tenantId, userId }: Account,
  hash: string,
): Promise<void> {
  const ids = { tenantId, userId };
  await system.prisma.password.upsert({
    where: { tenantId_userId: ids },
    create: { ...ids, hash },
    update: { hash },
  });
}

/** Returns false if the account's password has changed since the sign-in. */
export async function hasSamePassword(
  { system }: Pick<AccountStore, 'system'>,
  { account: { tenantId, userId }, password }: PasswordSignIn,
): Promise<boolean> {
  const row = await tenantClient(system, tenantId).password.findFirst({ where: { userId } });
  return row !== null && toDigest(row.hash) === password;
}

function toDigest(hash: string): string {
  return Buffer.from(sha256(hash)).toString('base64url');
}

/** Returns whether an account has a password. */
export async function hasPassword(
  { system }: Pick<AccountStore, 'system'>,
  { tenantId, userId }: Account,
): Promise<boolean> {
  return (await tenantClient(system, tenantId).password.count({ where: { userId } })) > 0;
}

/**
 * Returns whether a password is the current password of the account.
 * @throws ApiError RATE_LIMIT_EXCEEDED after too many failures. This limit prevents an attacker who uses an open
 * session from guessing the password.
 */
export async function isOwnPassword(
  databases: Pick<AccountStore, 'system'>,
  { tenantId, userId, email }: Account,
  { password, address }: { password: string; address: string },
): Promise<boolean> {
  const { takeBack } = await countAttempt(databases, { email, address });
  const row = await tenantClient(databases.system, tenantId).password.findFirst({ where: { userId } });
  const isMatch = await isPassword(password, row?.hash).catch(async (error: unknown) => {
    await takeBack();
    throw error;
  });
  if (isMatch) await takeBack();
  return isMatch;
}
