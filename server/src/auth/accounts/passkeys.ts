import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import * as z from 'zod';
import { sql } from '../../database/client/sql.ts';
import { allTenants } from '../../database/client/statements.ts';
import { tenantClient } from '../../database/client/tenant-client.ts';
import { isUniqueViolation } from '../../database/client/unique-violation.ts';
import type { Origin } from '../../shared/actor.ts';
import { ApiError } from '../../shared/errors.ts';
import { lazy } from '../../shared/lazy.ts';
import { serializeId, serializeTimestamp } from '../../shared/serialize.ts';
import { type TenantId, toTenantId } from '../../shared/tenant-id.ts';
import { type Account, type AccountRow, type AccountStore, accountColumns, accountsOf, toAccount } from './account.ts';
import { recordFailedSignIn } from './failed-sign-ins.ts';

/** The site for which browsers create passkeys (the relying party in WebAuthn §4). */
export interface RelyingParty {
  /** The origin of the site, such as `https://itsm.example.com`. */
  origin: string;
  /** The host name of the site, such as `itsm.example.com`. */
  id: string;
}

/** The details of a passkey, as the developer area shows them to the user. */
export interface PasskeyDetails {
  id: number;
  name: string;
  createdAt: string;
  lastUsedAt: string | null;
}

/** Loads the WebAuthn library when it is first needed. */
const webauthn = lazy(() => import('@simplewebauthn/server'));

/**
 * The supported signature algorithms: EdDSA, ES256 and RS256 (IANA COSE). Without this list, the library checks which
 * other algorithms Node.js supports, and Node.js prints a warning about an experimental feature.
 */
const supportedAlgorithmIDs = [-8, -7, -257];

/**
 * Marks a challenge as used. Returns true if the challenge was unused and the server sent it to this browser within the
 * last 5 minutes.
 */
export type ConsumeChallenge = (challenge: string) => Promise<boolean>;

/**
 * Marks a challenge as used in all processes. Returns false if the challenge was already used, so a client can't reuse
 * an old cookie. Each call also deletes some challenges that were used more than an hour ago.
 */
export async function useChallenge({ system }: AccountStore, challenge: string): Promise<boolean> {
  return (await system.prisma.$sql(insertChallenge, { challenge })) === 1;
}

const insertChallenge = allTenants.command<{ challenge: string }>(
  ({ challenge }) => sql`
  WITH old AS (
    DELETE FROM used_challenges WHERE challenge IN (
      SELECT challenge FROM used_challenges WHERE used_at < now() - interval '1 hour' LIMIT 20 FOR UPDATE SKIP LOCKED)
  )
  INSERT INTO used_challenges (challenge) VALUES (${challenge}) ON CONFLICT DO NOTHING`,
);

/**
 * Returns the options that a browser needs to create a passkey for an account. The options exclude devices that already
 * have a passkey for the account. If the new passkey replaces all existing passkeys, no device is excluded.
 */
export async function registrationOptions(
  { system }: AccountStore,
  { id }: RelyingParty,
  account: Account,
  { replacesOthers = false } = {},
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { tenantId, userId, email, name, workspace } = account;
  const known = replacesOthers ? [] : await tenantClient(system, tenantId).passkey.findMany({ where: { userId } });
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
    // `residentKey` lets the browser find the passkey without a user name.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** A new passkey that the server has verified. */
export interface NewPasskey {
  credentialId: Buffer<ArrayBuffer>;
  publicKey: Uint8Array<ArrayBuffer>;
  counter: bigint;
  transports: string[];
}

/**
 * Verifies a new passkey that a browser has created.
 * @param response the result of `PublicKeyCredential.toJSON()` as JSON text
 * @throws ApiError VALIDATION_ERROR if the passkey is invalid or is for another site or challenge
 */
export async function checkPasskey(
  site: RelyingParty,
  { response, consumeChallenge }: { response: string; consumeChallenge: ConsumeChallenge },
): Promise<NewPasskey> {
  const { verifyRegistrationResponse } = await webauthn();
  const input = parseJson(response) as RegistrationResponseJSON;
  const { registrationInfo } = await verifyOrThrow(() =>
    verifyRegistrationResponse({
      supportedAlgorithmIDs,
      response: input,
      expectedChallenge: consumeChallenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: true,
    }),
  );
  if (registrationInfo === undefined) throw invalidPasskey();
  const { id, publicKey, counter } = registrationInfo.credential;
  const transports = Transports.parse(input.response.transports);
  const credentialId = Buffer.from(id, 'base64url');
  return { credentialId, publicKey, counter: BigInt(counter), transports };
}

/**
 * The ways in which a browser can reach the authenticator, such as `usb`. This schema validates the values, because
 * they aren't signed and the library doesn't validate them.
 */
const Transports = z.array(z.string().max(30)).max(10).catch([]);

/**
 * Stores a verified passkey for an account.
 * @param name the display name
 * @throws ApiError VALIDATION_ERROR if the workspace already has the passkey
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

/**
 * Returns the options that a browser needs for a sign-in with a passkey. The user can choose any passkey for this site.
 */
export async function authenticationOptions({ id }: RelyingParty): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await webauthn();
  return generateAuthenticationOptions({ rpID: id, userVerification: 'required' });
}

/** A sign-in with a passkey: the account and the credential id of the passkey. */
export interface PasskeySignIn {
  account: Account;
  credentialId: Buffer<ArrayBuffer>;
}

/**
 * Verifies a sign-in with a passkey and returns the account.
 * @param response the result of `PublicKeyCredential.toJSON()` as JSON text
 * @throws ApiError VALIDATION_ERROR if the passkey is invalid or unknown, or if the response is for another site or
 * challenge; or SERVICE_UNAVAILABLE if the workspace is in maintenance
 */
export async function signInByPasskey(
  databases: AccountStore,
  site: RelyingParty,
  { response, consumeChallenge, ...from }: { response: string; consumeChallenge: ConsumeChallenge } & Origin,
): Promise<PasskeySignIn> {
  const { accounts } = databases;
  const input = readResponse(response);
  const credentialId = Buffer.from(input.response.id, 'base64url');
  const named = { tenantId: toTenantId(input.tenantId), credentialId };
  const [row] = await accounts.$sql(selectByCredential, { ...named, userId: BigInt(input.userId) });
  if (row === undefined) throw invalidPasskey();
  const account = toAccount(row);
  const credential = {
    id: input.response.id,
    publicKey: new Uint8Array(row.public_key),
    counter: Number(row.counter),
  };
  const { verifyAuthenticationResponse } = await webauthn();
  const { authenticationInfo } = await verifyOrThrow(() =>
    verifyAuthenticationResponse({
      response: input.response,
      expectedChallenge: consumeChallenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: true,
      credential,
    }),
  ).catch((error: unknown) => {
    recordFailedSignIn(databases, account, from);
    throw error;
  });
  await accounts.$sql(updateUsed, { ...named, counter: authenticationInfo.newCounter });
  return { account, credentialId };
}

/** Returns whether the user can still use the passkey that they signed in with. */
export async function hasPasskey({ system }: AccountStore, { account, credentialId }: PasskeySignIn): Promise<boolean> {
  const { tenantId, userId } = account;
  return (await tenantClient(system, tenantId).passkey.count({ where: { userId, credentialId } })) === 1;
}

/** Parses the browser's response. The user handle in the response contains the tenant id and the user id. */
function readResponse(text: string): { response: AuthenticationResponseJSON; tenantId: string; userId: string } {
  const input = z
    .looseObject({ id: z.string().max(2000), response: z.looseObject({ userHandle: z.string().max(100) }) })
    .safeParse(parseJson(text));
  const handle = input.data && Buffer.from(input.data.response.userHandle, 'base64url').toString();
  const [, tenantId, userId] = /^(\d{1,18})\.(\d{1,18})$/.exec(handle ?? '') ?? [];
  if (tenantId === undefined || userId === undefined) throw invalidPasskey();
  return { response: input.data as unknown as AuthenticationResponseJSON, tenantId, userId };
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
  counter: bigint;
}

/** The id of a passkey, which is unique in a workspace. */
interface Credential {
  tenantId: TenantId;
  credentialId: Uint8Array;
}

const selectByCredential = allTenants.rows<Credential & { userId: bigint }, AccountRow & PasskeyRow>(
  ({ tenantId, credentialId, userId }) => sql`
  SELECT p.public_key, p.counter, ${accountColumns} FROM passkeys p ${accountsOf(sql`p`)}
  WHERE p.tenant_id = ${tenantId} AND p.credential_id = ${credentialId} AND p.user_id = ${userId}`,
);

const updateUsed = allTenants.command<Credential & { counter: number }>(
  ({ tenantId, credentialId, counter }) => sql`UPDATE passkeys SET counter = ${counter}, last_used_at = now()
    WHERE tenant_id = ${tenantId} AND credential_id = ${credentialId}`,
);

/** Returns the passkeys of an account, newest first. */
export async function listPasskeys({ system }: AccountStore, { tenantId, userId }: Account): Promise<PasskeyDetails[]> {
  const rows = await tenantClient(system, tenantId).passkey.findMany({ where: { userId }, orderBy: { id: 'desc' } });
  return rows.map(({ id, name, createdAt, lastUsedAt }) => ({
    id: serializeId(id),
    name,
    createdAt: serializeTimestamp(createdAt),
    lastUsedAt: serializeTimestamp(lastUsedAt),
  }));
}

/** Deletes a passkey of an account and returns its name. @throws ApiError NOT_FOUND */
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

function invalidPasskey(): ApiError {
  return new ApiError(
    'VALIDATION_ERROR',
    'The passkey is unknown, or the page was open for too long. Reload the page and try again.',
  );
}

/** Runs a verification function of the WebAuthn library. Throws an API error if the verification fails. */
async function verifyOrThrow<Result extends { verified: boolean }>(verify: () => Promise<Result>): Promise<Result> {
  const result = await verify().catch(() => undefined);
  if (result?.verified !== true) throw invalidPasskey();
  return result;
}
