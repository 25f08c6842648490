import { integerFromText, NewUser, Scope, trimmedText } from '@itsm-api/contract';
import * as z from 'zod';
import type { Context } from '../context.ts';
import type { Prisma } from '../database/generated/client.ts';
import type { PrismaClient } from '../database/prisma.ts';
import { ApiError, invalidField } from '../errors.ts';
import { presentId, presentTimestamp, presentTimestamps } from '../present.ts';
import { hashKey, newKey } from './key-format.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const expiryError = 'must be a whole number of days from 1 to 3650';
const overlapError = 'must be a whole number of hours from 0 to 720';

const Name = trimmedText(1, 255);
const Scopes = z
  .array(
    z.enum(Scope.options, { error: ({ input }) => `may not hold ${input}; there are ${Scope.options.join(', ')}` }),
  )
  .min(1);
const ExpiresInDays = integerFromText(z.int(expiryError).min(1, expiryError).max(3650, expiryError));

/** What a key is made from: its user, by e-mail address, and what it may do. */
export const NewKey = z.strictObject({
  user: NewUser.shape.email,
  name: Name,
  scopes: Scopes,
  expiresInDays: ExpiresInDays.optional(),
});
export type NewKey = z.output<typeof NewKey>;

/** What of a key may be changed: all but the key, and whom it acts for. */
export const KeyPatch = NewKey.omit({ user: true }).partial();
export type KeyPatch = z.output<typeof KeyPatch>;

/** How a key is rotated: for how many hours it works beside its successor; with 0 it is revoked at once. */
export const KeyRotation = z.strictObject({
  overlapHours: z.preprocess(
    (hours: unknown) => (typeof hours === 'string' && /^\d{1,4}$/.test(hours) ? Number(hours) : hours),
    z.int(overlapError).min(0, overlapError).max(720, overlapError),
  ),
});
export type KeyRotation = z.output<typeof KeyRotation>;

/** Names a key; without a tenant, one of any. */
export interface KeyReference {
  id: number;
  tenantId?: bigint;
}

/** What may be shown of a key: everything but the key, which is not kept (docs/decisions/keys.md). */
export interface Key {
  id: number;
  name: string;
  lastFour: string;
  /** The e-mail address of the user in whose name it acts. */
  user: string;
  scopes: Scope[];
  /** The key that it took the place of. */
  rotatedFrom: number | null;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
  createdAt: string;
  updatedAt: string;
}

const withUser = { user: { select: { email: true, active: true } } } as const;

/** Keys of all tenants, within a transaction or not. */
type KeyStore = Pick<PrismaClient, 'apiKey'>;

/** The columns that are taken from the key itself. */
export function keyColumns(key: string) {
  return { hash: hashKey(key), lastFour: key.slice(-4) };
}

/**
 * Creates a key for an active user. The answer holds the key itself, and nothing else ever will.
 * @throws ApiError INVALID_REFERENCE when there is no such active user
 */
export async function createKey({ db, now }: Context, input: NewKey): Promise<{ key: string } & Key> {
  const user = await db.user.findFirst({ where: { email: input.user }, select: { id: true, active: true } });
  if (user === null) throw invalidField('INVALID_REFERENCE', 'user', `${input.user} is no user of this workspace`);
  if (!user.active) throw invalidField('INVALID_REFERENCE', 'user', `${input.user} is inactive`);

  const key = newKey();
  const expiresAt = input.expiresInDays === undefined ? null : new Date(now().getTime() + input.expiresInDays * dayMs);
  const row = await db.apiKey.create({
    data: { ...keyColumns(key), userId: user.id, name: input.name, scopes: [...new Set(input.scopes)], expiresAt },
    include: withUser,
  });
  return { key, ...presentKey(row) };
}

/** Every key of the tenant, newest first: also those that work no more. */
export async function listKeys({ db }: Context): Promise<Key[]> {
  return (await db.apiKey.findMany({ include: withUser, orderBy: { id: 'desc' } })).map(presentKey);
}

/** One key. @throws ApiError NOT_FOUND */
export async function getKey(prisma: KeyStore, reference: KeyReference): Promise<Key> {
  return presentKey(await findRow(prisma, reference));
}

/** Changes a key; within a second every process goes by what it is now. @throws ApiError NOT_FOUND */
export async function updateKey(
  prisma: KeyStore,
  reference: KeyReference,
  { expiresInDays, scopes, ...columns }: KeyPatch,
): Promise<Key> {
  await prisma.apiKey.updateMany({
    where: { ...reference },
    data: {
      ...columns,
      ...(scopes && { scopes: [...new Set(scopes)] }),
      ...(expiresInDays && { expiresAt: new Date(Date.now() + expiresInDays * dayMs) }),
    },
  });
  return getKey(prisma, reference);
}

/**
 * Makes a key that takes the place of another: of the same name, user, scopes and length of life. The other one works
 * for some hours beside it, and no longer than it would have. The answer holds the new key itself, and nothing else
 * ever will.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR when it works no more, or its user is inactive
 */
export function rotateKey(
  prisma: PrismaClient,
  reference: KeyReference,
  { overlapHours }: KeyRotation,
): Promise<{ key: string; previous: Key } & Key> {
  return prisma.$transaction(async (tx) => {
    const before = await findRow(tx, reference);
    const now = new Date();
    if (before.revokedAt !== null || (before.expiresAt !== null && before.expiresAt <= now)) {
      throw new ApiError(
        'VALIDATION_ERROR',
        `Key ${reference.id} works no more, so nothing can take its place: make a new one.`,
      );
    }
    if (!before.user.active) throw new ApiError('VALIDATION_ERROR', `${before.user.email} is inactive.`);
    const { tenantId, id, userId, name, scopes, createdAt, expiresAt } = before;
    const key = newKey();
    const row = await tx.apiKey.create({
      data: {
        ...{ ...keyColumns(key), tenantId, userId, name, scopes, rotatedFrom: id },
        expiresAt: expiresAt && new Date(now.getTime() + (expiresAt.getTime() - createdAt.getTime())),
      },
      include: withUser,
    });
    const end = new Date(now.getTime() + overlapHours * hourMs);
    const previous = await tx.apiKey.update({
      where: { tenantId_id: { tenantId, id } },
      data: overlapHours === 0 ? { revokedAt: now } : { expiresAt: expiresAt && expiresAt < end ? expiresAt : end },
      include: withUser,
    });
    return { key, ...presentKey(row), previous: presentKey(previous) };
  });
}

/** Revokes a key: within a second no process takes it any more. Revoked again, it keeps its `revokedAt`. @throws ApiError NOT_FOUND */
export async function revokeKey(prisma: KeyStore, reference: KeyReference): Promise<Key> {
  await prisma.apiKey.updateMany({ where: { ...reference, revokedAt: null }, data: { revokedAt: new Date() } });
  return getKey(prisma, reference);
}

async function findRow(prisma: KeyStore, reference: KeyReference) {
  const row = await prisma.apiKey.findFirst({ where: { ...reference }, include: withUser });
  if (row === null) throw new ApiError('NOT_FOUND', `There is no key with the id ${reference.id}.`);
  return row;
}

function presentKey(row: Prisma.ApiKeyGetPayload<{ include: typeof withUser }>): Key {
  return {
    id: presentId(row.id),
    name: row.name,
    lastFour: row.lastFour,
    user: row.user.email,
    scopes: row.scopes.map((scope) => Scope.parse(scope)),
    rotatedFrom: presentId(row.rotatedFrom),
    expiresAt: presentTimestamp(row.expiresAt),
    revokedAt: presentTimestamp(row.revokedAt),
    lastUsedAt: presentTimestamp(row.lastUsedAt),
    ...presentTimestamps(row),
  };
}
