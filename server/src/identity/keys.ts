import { integerFromText, NewUser, Scope, trimmedText } from '@itsm-api/contract';
import * as z from 'zod';
import type { Context } from '../context.ts';
import type { Prisma } from '../database/generated/client.ts';
import type { PrismaClient } from '../database/prisma.ts';
import { ApiError, invalidField } from '../errors.ts';
import { presentId, presentTimestamp, presentTimestamps } from '../present.ts';
import { hashKey, newKey } from './key-format.ts';

const dayMs = 86_400_000;
const expiryError = 'must be a whole number of days from 1 to 3650';

/** What a key is made from: its user, by e-mail address, and what it may do. */
export const NewKey = z.strictObject({
  user: NewUser.shape.email,
  name: trimmedText(1, 255),
  scopes: z
    .array(
      z.enum(Scope.options, { error: ({ input }) => `may not hold ${input}; there are ${Scope.options.join(', ')}` }),
    )
    .min(1),
  expiresInDays: integerFromText(z.int(expiryError).min(1, expiryError).max(3650, expiryError)).optional(),
});
export type NewKey = z.output<typeof NewKey>;

/** What may be shown of a key: everything but the key, which is not kept (docs/decisions/keys.md). */
export interface Key {
  id: number;
  name: string;
  lastFour: string;
  /** The e-mail address of the user in whose name it acts. */
  user: string;
  scopes: Scope[];
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
  createdAt: string;
  updatedAt: string;
}

const withUser = { user: { select: { email: true } } } as const;

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

/**
 * Revokes a key of any tenant: within a second no process takes it any more. Revoked again, it keeps its `revokedAt`.
 * @throws ApiError NOT_FOUND
 */
export async function revokeKey(prisma: PrismaClient, id: number): Promise<Key> {
  await prisma.apiKey.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: new Date() } });
  const row = await prisma.apiKey.findFirst({ where: { id }, include: withUser });
  if (row === null) throw new ApiError('NOT_FOUND', `There is no key with the id ${id}.`);
  return presentKey(row);
}

function presentKey(row: Prisma.ApiKeyGetPayload<{ include: typeof withUser }>): Key {
  return {
    id: presentId(row.id),
    name: row.name,
    lastFour: row.lastFour,
    user: row.user.email,
    scopes: row.scopes.map((scope) => Scope.parse(scope)),
    expiresAt: presentTimestamp(row.expiresAt),
    revokedAt: presentTimestamp(row.revokedAt),
    lastUsedAt: presentTimestamp(row.lastUsedAt),
    ...presentTimestamps(row),
  };
}
