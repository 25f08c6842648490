import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import * as z from 'zod';
import { tenantClient } from '../../database/client/tenant-client.ts';
import { isUniqueViolation } from '../../database/unique-violation.ts';
import { ApiError } from '../../shared/errors.ts';
import { lazy } from '../../shared/lazy.ts';
import { serializeId, serializeTimestamp } from '../../shared/serialize.ts';
import { type Account, type AccountRow, type AccountStore, accountColumns, accountsOf, toAccount } from './account.ts';

/** The site that passkeys are made for (WebAuthn §4, relying party). */
export interface RelyingParty {
  /** Such as `https://itsm.example.com`. */
  origin: string;
  /** Its host. */
  id: string;
}

/** What is shown of a passkey. */
export interface PasskeyDetails {
  id: number;
  name: string;
  createdAt: string;
  lastUsedAt: string | null;
}

/** Loaded by who first signs in, or chooses how to. */
const webauthn = lazy(() => import('@simplewebauthn/server'));

/**
 * How passkeys may sign: EdDSA, ES256 and RS256 (IANA COSE). By default the library asks Node.js whether it knows more, which
 * warns on stderr that the question is experimental.
 */
const supportedAlgorithmIDs = [-8, -7, -257];

/** Checks that a challenge was given to this browser within the last minutes, and uses it up. */
export type ConsumeChallenge = (challenge: string) => Promise<boolean>;

/**
 * Marks a challenge as used, in every process and whatever cookie is sent again. Returns whether it was not used before. Each
 * call deletes some of the challenges that no cookie holds any longer.
 */
export async function useChallenge({ system }: AccountStore, challenge: string): Promise<boolean> {
  return (await system.pool.query(insertChallenge, [challenge])).rowCount === 1;
}

const insertChallenge = `
  WITH old AS (
    DELETE FROM used_challenges WHERE challenge IN (
      SELECT challenge FROM used_challenges WHERE used_at < now() - interval '1 hour' LIMIT 20 FOR UPDATE SKIP LOCKED)
  )
  INSERT INTO used_challenges (challenge) VALUES ($1) ON CONFLICT DO NOTHING`;

/**
 * What a browser needs to make a passkey for an account.
 * @param anew whether the account has no other then; else a device that has one makes no second
 */
export async function registrationOptions(
  { system }: AccountStore,
  { id }: RelyingParty,
  account: Account,
  { anew = false } = {},
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { tenantId, userId, email, name, workspace } = account;
  const known = anew ? [] : await tenantClient(system, tenantId).passkey.findMany({ where: { userId } });
  const { generateRegistrationOptions } = await webauthn();
  return generateRegistrationOptions({
    supportedAlgorithmIDs,
    rpName: `ITSM API · ${workspace}`,
    rpID: id,
    userID: new TextEncoder().encode(`${tenantId}.${userId}`),
    userName: `${email} (${workspace})`,
    userDisplayName: name,
    excludeCredentials: known.map(({ credentialId, transports }) => {
      return { id: Buffer.from(credentialId).toString('base64url'), transports };
    }),
    // One that the browser finds by itself, so that nobody has to type who they are.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** A passkey that was found to be good. */
export interface NewPasskey {
  credentialId: Buffer<ArrayBuffer>;
  publicKey: Uint8Array<ArrayBuffer>;
  counter: bigint;
  transports: string[];
}

/**
 * The passkey that a browser has made.
 * @param response as `PublicKeyCredential.toJSON()` gives it, as text
 * @throws ApiError VALIDATION_ERROR for what is none, or was made for another site or challenge
 */
export async function checkPasskey(
  site: RelyingParty,
  { response, takeChallenge }: { response: string; takeChallenge: ConsumeChallenge },
): Promise<NewPasskey> {
  const { verifyRegistrationResponse } = await webauthn();
  const given = parseJson(response) as RegistrationResponseJSON;
  const { registrationInfo } = await orInvalid(() =>
    verifyRegistrationResponse({
      supportedAlgorithmIDs,
      response: given,
      expectedChallenge: takeChallenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: true,
    }),
  );
  if (registrationInfo === undefined) throw notValid();
  const { id, publicKey, counter } = registrationInfo.credential;
  const transports = Transports.parse(given.response.transports);
  const credentialId = Buffer.from(id, 'base64url');
  return { credentialId, publicKey, counter: BigInt(counter), transports };
}

/** How a browser reaches what has made the passkey: signed by nobody, and looked at by no library. */
const Transports = z.array(z.string().max(30)).max(10).catch([]);

/**
 * Keeps a passkey of an account. @param name what it is called by
 * @throws ApiError VALIDATION_ERROR when the workspace has the passkey already
 */
export async function savePasskey(
  { system }: AccountStore,
  { tenantId, userId }: Account,
  passkey: NewPasskey & { name: string },
): Promise<void> {
  try {
    await tenantClient(system, tenantId).passkey.create({ data: { userId, ...passkey } });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ApiError('VALIDATION_ERROR', 'This passkey is already registered. Create a different one.');
  }
}

/** What a browser needs to sign in with whichever passkey it has for this site. */
export async function authenticationOptions({ id }: RelyingParty): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await webauthn();
  return generateAuthenticationOptions({ rpID: id, userVerification: 'required' });
}

/** An account, and its passkey that has signed. */
export interface PasskeySignIn {
  account: Account;
  credentialId: Buffer<ArrayBuffer>;
}

/**
 * The account of the passkey that has signed.
 * @param response as `PublicKeyCredential.toJSON()` gives it, as text
 * @throws ApiError VALIDATION_ERROR for what is none, isn't known here, or was made for another site or challenge
 */
export async function signInByPasskey(
  { accounts }: AccountStore,
  site: RelyingParty,
  { response, takeChallenge }: { response: string; takeChallenge: ConsumeChallenge },
): Promise<PasskeySignIn> {
  const given = readResponse(response);
  const credentialId = Buffer.from(given.response.id, 'base64url');
  const values = [given.tenantId, credentialId];
  const { rows }: { rows: (AccountRow & PasskeyRow)[] } = await accounts.query(byCredential, [...values, given.userId]);
  const [row] = rows;
  if (row === undefined) throw notValid();
  const credential = {
    id: given.response.id,
    publicKey: new Uint8Array(row.public_key),
    counter: Number(row.counter),
  };
  const { verifyAuthenticationResponse } = await webauthn();
  const { authenticationInfo } = await orInvalid(() =>
    verifyAuthenticationResponse({
      response: given.response,
      expectedChallenge: takeChallenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: true,
      credential,
    }),
  );
  await accounts.query(used, [...values, authenticationInfo.newCounter]);
  return { account: toAccount(row), credentialId };
}

/** Whether the account has the passkey still. */
export async function hasPasskey({ system }: AccountStore, { account, credentialId }: PasskeySignIn): Promise<boolean> {
  const { tenantId, userId } = account;
  return (await tenantClient(system, tenantId).passkey.count({ where: { userId, credentialId } })) === 1;
}

/** Reads what a browser sent, and the tenant and user that the passkey's user handle names. */
function readResponse(text: string): { response: AuthenticationResponseJSON; tenantId: string; userId: string } {
  const given = z
    .looseObject({ id: z.string().max(2000), response: z.looseObject({ userHandle: z.string().max(100) }) })
    .safeParse(parseJson(text));
  const handle = given.data && Buffer.from(given.data.response.userHandle, 'base64url').toString();
  const [, tenantId, userId] = /^(\d{1,18})\.(\d{1,18})$/.exec(handle ?? '') ?? [];
  if (tenantId === undefined || userId === undefined) throw notValid();
  return { response: given.data as unknown as AuthenticationResponseJSON, tenantId, userId };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface PasskeyRow {
  public_key: Buffer;
  counter: string;
}

const byCredential = `
  SELECT p.public_key, p.counter, ${accountColumns} FROM passkeys p ${accountsOf('p')}
  WHERE p.tenant_id = $1 AND p.credential_id = $2 AND p.user_id = $3`;

const used = 'UPDATE passkeys SET counter = $3, last_used_at = now() WHERE tenant_id = $1 AND credential_id = $2';

/** The passkeys of an account, newest first. */
export async function listPasskeys({ system }: AccountStore, { tenantId, userId }: Account): Promise<PasskeyDetails[]> {
  const rows = await tenantClient(system, tenantId).passkey.findMany({ where: { userId }, orderBy: { id: 'desc' } });
  return rows.map(({ id, name, createdAt, lastUsedAt }) => ({
    id: serializeId(id),
    name,
    createdAt: serializeTimestamp(createdAt),
    lastUsedAt: serializeTimestamp(lastUsedAt),
  }));
}

/** Forgets a passkey of an account. @throws ApiError NOT_FOUND */
export async function removePasskey(
  { system }: AccountStore,
  { tenantId, userId }: Account,
  id: number,
): Promise<string> {
  const { passkey } = tenantClient(system, tenantId);
  const row = await passkey.findFirst({ where: { id, userId } });
  if (row === null) throw new ApiError('NOT_FOUND', 'Passkey not found. Reload the page.');
  await passkey.deleteMany({ where: { id, userId } });
  return row.name;
}

function notValid(): ApiError {
  return new ApiError(
    'VALIDATION_ERROR',
    'The passkey is unknown, or the page was open for too long. Reload the page and try again.',
  );
}

/** What the library finds wrong with what a browser sent. */
async function orInvalid<Result extends { verified: boolean }>(verify: () => Promise<Result>): Promise<Result> {
  const result = await verify().catch(() => undefined);
  if (result?.verified !== true) throw notValid();
  return result;
}
