import { integerFromText, NewUser, Scope, trimmedText } from '@itsm-api/contract';
import * as z from 'zod';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { lockRow } from '../../database/row-lock.ts';
import { auditChanges, recordAudit } from '../../resources/audit/audit-entry.ts';
import { type Context, transaction } from '../../resources/shared/context.ts';
import { withdrawOfKey } from '../../resources/shared/proposal-withdrawal.ts';
import { ApiError, invalidField, notFound, requireRow } from '../../shared/errors.ts';
import { serializeId, serializeTimestamp, serializeTimestamps } from '../../shared/serialize.ts';
import { AllowedNetworks } from './allowed-networks.ts';
import { hashKey, newKey } from './key-format.ts';
import { checkExpiry, Days, dayMs, getKeyPolicy, requiresExpiry } from './key-policy.ts';
import { type KeyStatus, keyStatus } from './key-status.ts';
import { knownScopes } from './known-scopes.ts';

const hourMs = 3_600_000;
/** The maximum lifetime of an import key in days. */
const importDays = 30;
const importExpiryError = `must be at most ${importDays} days after the creation of an import key`;
const overlapError = 'must be a whole number of hours from 0 to 720';

const Name = trimmedText(1, 255);
const Scopes = z
  .array(
    z.enum(Scope.options, {
      error: ({ input }) => `must not contain ${input}. Use any of ${Scope.options.join(', ')}.`,
    }),
  )
  .min(1, 'must contain at least one scope');
const ExpiresInDays = integerFromText(Days);

/**
 * The input for a new API key: the email address of its user, its name, its scopes, its lifetime and the networks from
 * which it works.
 */
export const NewKey = z.strictObject({
  user: NewUser.shape.email,
  name: Name,
  scopes: Scopes,
  expiresInDays: ExpiresInDays.optional(),
  allowedNetworks: AllowedNetworks.optional(),
  /** Whether the key is for an import (docs/decisions/imports.md). */
  isImport: z.boolean().optional(),
  /** Whether the key can only propose changes (docs/decisions/proposals-design.md). */
  isProposing: z.boolean().optional(),
});
export type NewKey = z.output<typeof NewKey>;

/**
 * The properties of an API key that clients can change. `expiresInDays` counts from the time of the change, and null
 * removes the expiry date.
 */
export const KeyPatch = NewKey.omit({ user: true, isImport: true, isProposing: true })
  .extend({ expiresInDays: ExpiresInDays.nullable() })
  .partial();
export type KeyPatch = z.output<typeof KeyPatch>;

/**
 * The input for a rotation: the number of hours that the old API key stays valid. If the number is 0, the rotation
 * revokes the old key immediately.
 */
export const KeyRotation = z.strictObject({
  overlapHours: z.preprocess(
    (hours: unknown) => (typeof hours === 'string' && /^\d{1,4}$/.test(hours) ? Number(hours) : hours),
    z.int(overlapError).min(0, overlapError).max(720, overlapError),
  ),
});
export type KeyRotation = z.output<typeof KeyRotation>;

/**
 * The public properties of an API key. The database stores only a hash of the key itself (docs/decisions/api-keys-design.md).
 */
export interface Key {
  id: number;
  name: string;
  lastFour: string;
  /** The email address of the user that the API key acts for. */
  user: string;
  userId: number;
  state: KeyStatus;
  scopes: Scope[];
  /** Whether the key is for an import (docs/decisions/imports.md). */
  isImport: boolean;
  /** Whether the key can only propose changes (docs/decisions/proposals-design.md). */
  isProposing: boolean;
  /** The CIDR ranges from which the key works. If empty, the key works from every address. */
  allowedNetworks: string[];
  /** The id of the API key that this key replaced, or null if it didn't replace a key. */
  rotatedFrom: number | null;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
  /** The IP address of the client at `lastUsedAt`. */
  lastUsedAddress: string | null;
  createdAt: string;
  updatedAt: string;
}

/**
 * The API key columns that queries read. The hash is excluded, because the database role for requests can't read it.
 */
export const keyColumns = {
  ...{ id: true, userId: true, rotatedFrom: true, name: true, lastFour: true, scopes: true, isImport: true },
  isProposing: true,
  ...{ allowedNetworks: true, expiresAt: true, revokedAt: true, lastUsedAt: true, lastUsedAddress: true },
  ...{ createdAt: true, updatedAt: true },
  user: { select: { email: true, active: true } },
} as const satisfies Prisma.ApiKeySelect;

type KeyRow = Prisma.ApiKeyGetPayload<{ select: typeof keyColumns }>;

/** Returns the values that the database stores instead of an API key: its hash and its last four characters. */
export function storedOf(key: string) {
  return { hash: hashKey(key), lastFour: key.slice(-4) };
}

/**
 * Creates an API key for an active user. The key itself is available only in the result.
 * @throws ApiError INVALID_REFERENCE if the workspace has no active user with this email address; VALIDATION_ERROR if
 * the expiry violates the rules of the workspace (`KeyPolicy`), if the user is an agent with `maxAgentKeys` keys, or if
 * the key is for an import, and lasts longer than 30 days or the user isn't an administrator
 */
export function createKey(context: Context, input: NewKey): Promise<{ key: string } & Key> {
  return transaction(context, async (context) => {
    const { db, now } = context;
    const where = { email: input.user };
    const found = await db.user.findFirst({ where, select: { id: true } });
    if (found !== null) await lockUser(context, found.id);
    const user = await db.user.findFirst({ where, select: { id: true, active: true, role: true } });
    if (user === null || !user.active) {
      throw invalidField('INVALID_REFERENCE', 'user', `${input.user} must be an active user of this workspace`);
    }
    if (user.role === 'AGENT') await checkKeyCount(context, user.id);
    const { isImport = false, isProposing = false, expiresInDays, allowedNetworks = [] } = input;
    if (isImport && isProposing) {
      throw new ApiError(
        'VALIDATION_ERROR',
        'An import key must be able to change data. Create a key for one purpose.',
      );
    }
    if (isImport && user.role !== 'ADMIN') {
      throw invalidField('VALIDATION_ERROR', 'user', 'must be an administrator, because the key is for an import');
    }
    if (isImport && (expiresInDays === undefined || expiresInDays > importDays)) {
      throw invalidField('VALIDATION_ERROR', 'expiresInDays', importExpiryError);
    }
    const createdAt = now();
    const expiresAt = expiresInDays === undefined ? null : daysAfter(createdAt, expiresInDays);
    checkExpiry(await getKeyPolicy(db), { createdAt, expiresAt });
    const key = await addKey(context, {
      ...{ userId: user.id, name: input.name, scopes: [...new Set(input.scopes)], isImport },
      ...{ isProposing, allowedNetworks, expiresAt },
    });
    const stored = ['userId', 'scopes', 'isImport', 'isProposing', 'expiresAt', 'allowedNetworks'] as const;
    const changes = auditChanges({}, key, stored);
    await recordAudit(context, { action: 'key.created', target: targetOf(key.id), changes });
    return key;
  });
}

function targetOf(id: number) {
  return { type: 'key', id } as const;
}

/** The maximum number of valid API keys of an agent, because each key has its own rate limit. */
export const maxAgentKeys = 100;

/** Returns the number of a user's API keys that are neither revoked nor expired. */
export function countValidKeys({ db, now }: Context, userId: bigint): Promise<number> {
  const isValid = { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now() } }] };
  return db.apiKey.count({ where: { userId, ...isValid } });
}

async function checkKeyCount(context: Context, userId: bigint): Promise<void> {
  if ((await countValidKeys(context, userId)) < maxAgentKeys) return;
  throw invalidField(
    'VALIDATION_ERROR',
    'user',
    `already has ${maxAgentKeys} valid API keys. Revoke unused keys first.`,
  );
}

type KeyFields = Pick<
  Prisma.ApiKeyUncheckedCreateInput,
  'userId' | 'name' | 'scopes' | 'isImport' | 'isProposing' | 'allowedNetworks' | 'expiresAt' | 'rotatedFrom'
>;

async function addKey(context: Context, fields: KeyFields): Promise<{ key: string } & Key> {
  const key = newKey();
  const { id } = await context.db.apiKey.create({ data: { ...fields, ...storedOf(key) }, select: { id: true } });
  return { key, ...(await getKey(context, serializeId(id))) };
}

/** Returns one API key. @param user the id of the user that the key must belong to @throws ApiError NOT_FOUND */
export async function getKey({ db, now }: Context, id: number, { user }: { user?: number } = {}): Promise<Key> {
  const where = { id, ...(user !== undefined && { userId: user }) };
  return presentKey(requireRow(await db.apiKey.findFirst({ where, select: keyColumns }), 'API key'), now());
}

/** Returns the ids of the API keys that directly replaced an API key, oldest first. */
export async function successorsOf({ db }: Context, id: number): Promise<number[]> {
  const rows = await db.apiKey.findMany({ where: { rotatedFrom: id }, select: { id: true }, orderBy: { id: 'asc' } });
  return rows.map((row) => serializeId(row.id));
}

/**
 * Updates an API key. All processes use the new values within a second.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if an import key would last longer than 30 days, or if a later expiry
 * violates the rules of the workspace (`KeyPolicy`)
 */
export function updateKey(context: Context, id: number, { expiresInDays, scopes, ...columns }: KeyPatch): Promise<Key> {
  const data = {
    ...columns,
    ...(scopes && { scopes: [...new Set(scopes)] }),
    ...(expiresInDays !== undefined && {
      expiresAt: expiresInDays === null ? null : daysAfter(context.now(), expiresInDays),
    }),
  };
  return transaction(context, async (context) => {
    const current = await lockKey(context, id);
    const { isImport } = current;
    const createdAt = new Date(current.createdAt);
    const { expiresAt } = data;
    const isTooLong = expiresAt === null || Number(expiresAt) > Number(daysAfter(createdAt, importDays));
    if (isImport && expiresAt !== undefined && isTooLong) {
      throw invalidField('VALIDATION_ERROR', 'expiresInDays', importExpiryError);
    }
    // An earlier expiry is always allowed, also if the key is older than the maximum lifetime.
    const isEarlier =
      expiresAt != null && (current.expiresAt === null || Number(expiresAt) <= Date.parse(current.expiresAt));
    if (expiresAt !== undefined && !isEarlier) {
      checkExpiry(await getKeyPolicy(context.db), { createdAt, expiresAt });
    }
    await context.db.apiKey.updateMany({ where: { id }, data });
    const key = await getKey(context, id);
    const changes = auditChanges(current, key, ['scopes', 'expiresAt', 'allowedNetworks'], ['name']);
    await recordAudit(context, { action: 'key.changed', target: targetOf(id), changes });
    return key;
  });
}

/**
 * Removes all scopes from an API key except the given ones.
 * @param scopes the scopes to keep
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if the key lacks one of these scopes
 */
export function narrowKey(context: Context, id: number, scopes: Scope[]): Promise<Key> {
  return transaction(context, async (context) => {
    const current = await lockKey(context, id);
    const added = scopes.filter((scope) => !current.scopes.includes(scope));
    if (added.length > 0) {
      const message = `can't be added to an existing key, and this key lacks ${added.join(', ')}. Create a new key with these scopes.`;
      throw invalidField('VALIDATION_ERROR', 'scopes', message);
    }
    return updateKey(context, id, { scopes });
  });
}

/**
 * Creates an API key that replaces another key. The new key has the same name, user, scopes, allowed networks and
 * lifetime, but lasts at most for the maximum lifetime of the workspace. The old key stays valid for `overlapHours`, or
 * until it expires if that is earlier. The new key itself is available only in the result.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if the key is expired or revoked, its user is inactive, or it has no
 * expiry and the workspace requires one
 */
export function rotateKey(
  context: Context,
  id: number,
  { overlapHours }: KeyRotation,
): Promise<{ key: string; previous: Key } & Key> {
  return transaction(context, async (context) => {
    const { db } = context;
    const now = context.now();
    await lockUser(context, (await getKey(context, id)).userId);
    const locked = await lockKey(context, id);
    const { userId, user, name, scopes, isImport, isProposing, allowedNetworks, state, ...current } = locked;
    if (state === 'revoked' || state === 'expired') {
      const message = `API key ${id} is expired or revoked and can't be rotated. Create a new key.`;
      throw new ApiError('VALIDATION_ERROR', message);
    }
    if (state === 'inactive')
      throw new ApiError(
        'VALIDATION_ERROR',
        `${user} is inactive, so the API key can't be rotated. Reactivate the user first.`,
      );
    const expiresAt = current.expiresAt === null ? null : new Date(current.expiresAt);
    // An earlier rotation may have shortened the lifetime of this key, but the most recent replacement still has the
    // original lifetime.
    let latest = { id: BigInt(id), createdAt: new Date(current.createdAt), expiresAt };
    for (let next: typeof latest | null = latest; next !== null; ) {
      latest = next;
      next = await db.apiKey.findFirst({
        where: { rotatedFrom: latest.id },
        orderBy: { id: 'asc' },
        select: { id: true, createdAt: true, expiresAt: true },
      });
    }
    const policy = await getKeyPolicy(db);
    const lifetimeMs = Math.min(
      latest.expiresAt === null ? Infinity : latest.expiresAt.getTime() - latest.createdAt.getTime(),
      policy.maxLifetimeDays === null ? Infinity : policy.maxLifetimeDays * dayMs,
    );
    if (lifetimeMs === Infinity && requiresExpiry(policy)) {
      const message = 'This workspace requires an expiry. Set an expiry for the API key, then rotate the key.';
      throw new ApiError('VALIDATION_ERROR', message);
    }
    const successor = await addKey(context, {
      ...{ userId, name, scopes, isImport, isProposing, allowedNetworks, rotatedFrom: id },
      expiresAt: lifetimeMs === Infinity ? null : new Date(now.getTime() + lifetimeMs),
    });
    const end = new Date(now.getTime() + overlapHours * hourMs);
    await db.apiKey.updateMany({
      where: { id },
      data: overlapHours === 0 ? { revokedAt: now } : { expiresAt: expiresAt && expiresAt < end ? expiresAt : end },
    });
    const previous = await getKey(context, id);
    await recordAudit(context, {
      action: 'key.rotated',
      target: targetOf(id),
      changes: {
        successor: { from: null, to: successor.id },
        ...(isImport && { isImport: { from: null, to: true } }),
        ...(isProposing && { isProposing: { from: null, to: true } }),
        ...auditChanges(current, previous, ['expiresAt', 'revokedAt']),
      },
    });
    return { ...successor, previous };
  });
}

/**
 * Revokes an API key, and withdraws its pending proposals unless another key has replaced it. All processes reject the
 * key within a second. A repeated call doesn't change `revokedAt`.
 * @throws ApiError NOT_FOUND
 */
export function revokeKey(context: Context, id: number): Promise<Key> {
  return transaction(context, async (context) => {
    const { count } = await context.db.apiKey.updateMany({
      where: { id, revokedAt: null },
      data: { revokedAt: context.now() },
    });
    if (count > 0) {
      await recordAudit(context, { action: 'key.revoked', target: targetOf(id) });
      await withdrawOfKey(context, id);
    }
    return getKey(context, id);
  });
}

/**
 * Locks the user of a new API key. A concurrent transaction that revokes all of the user's keys then waits for this
 * transaction, and also revokes the new key.
 */
async function lockUser({ db }: Context, userId: number | bigint): Promise<void> {
  await lockRow(db, 'users', Number(userId));
}

/** Returns an API key and locks it until the end of the transaction. @throws ApiError NOT_FOUND */
async function lockKey(context: Context, id: number): Promise<Key> {
  if (!(await lockRow(context.db, 'api_keys', id))) throw notFound('API key');
  return getKey(context, id);
}

/** Serializes an API key with its status at the given time. */
export function presentKey(row: KeyRow, now: Date): Key {
  return {
    id: serializeId(row.id),
    name: row.name,
    lastFour: row.lastFour,
    user: row.user.email,
    userId: serializeId(row.userId),
    scopes: knownScopes(row.scopes),
    isImport: row.isImport,
    isProposing: row.isProposing,
    allowedNetworks: row.allowedNetworks,
    state: keyStatus(row, now),
    rotatedFrom: serializeId(row.rotatedFrom),
    expiresAt: serializeTimestamp(row.expiresAt),
    revokedAt: serializeTimestamp(row.revokedAt),
    lastUsedAt: serializeTimestamp(row.lastUsedAt),
    lastUsedAddress: row.lastUsedAddress,
    ...serializeTimestamps(row),
  };
}

function daysAfter(moment: Date, days: number): Date {
  return new Date(moment.getTime() + days * dayMs);
}
