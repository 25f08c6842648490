import { Id, integerFromText, listQuery, type PageMeta, Scope, text } from '@itsm-api/contract';
import * as z from 'zod';
import type { Prisma } from '../../../generated/prisma/client.ts';
import type { Context } from '../../resources/shared/context.ts';
import { serializeId } from '../../shared/serialize.ts';
import { type Key, keyColumns, presentKey } from './api-keys.ts';
import { KeyStatus, whereStatus } from './key-status.ts';

type Order = Prisma.ApiKeyOrderByWithRelationInput;

/**
 * The sort orders of the API key list. A `-` prefix reverses the order. Keys without a value in the sort column come
 * last.
 */
const orders = {
  name: { name: 'asc' },
  '-name': { name: 'desc' },
  created: { id: 'asc' },
  '-created': { id: 'desc' },
  used: { lastUsedAt: { sort: 'asc', nulls: 'last' } },
  '-used': { lastUsedAt: { sort: 'desc', nulls: 'last' } },
  expires: { expiresAt: { sort: 'asc', nulls: 'last' } },
  '-expires': { expiresAt: { sort: 'desc', nulls: 'last' } },
} as const satisfies Record<string, Order>;

type KeySort = keyof typeof orders;

/** The query parameters of the API key list: filters, sort order and page. */
export const KeyQuery = listQuery({
  /** The search text: either the last four characters of the key, or a part of its name in upper or lower case. */
  q: text(1, 255).trim().optional(),
  state: KeyStatus.optional(),
  /** The id of the user who owns the API keys. */
  user: integerFromText(Id).optional(),
  scope: Scope.optional(),
  sort: z.enum(Object.keys(orders) as [KeySort, ...KeySort[]]).optional(),
});
export type KeyQuery = z.output<typeof KeyQuery>;

/** Returns a page of API keys, including expired and revoked keys. */
export async function listKeys(
  { db, now }: Context,
  { page, perPage, sort = '-created', ...filters }: KeyQuery,
): Promise<{ data: Key[]; meta: PageMeta }> {
  const at = now();
  const where = toWhere(filters, at);
  const totalCount = await db.apiKey.count({ where });
  const rows = await db.apiKey.findMany({
    where,
    select: keyColumns,
    orderBy: [orders[sort], { id: 'desc' }],
    skip: (page - 1) * perPage,
    take: perPage,
  });
  return { data: rows.map((row) => presentKey(row, at)), meta: { page, perPage, totalCount } };
}

/** Returns the number of API keys that match the filters. */
export function countKeys({ db, now }: Context, filters: Pick<KeyQuery, 'state' | 'user'>): Promise<number> {
  return db.apiKey.count({ where: toWhere(filters, now()) });
}

/** Returns the first 200 users that have API keys, sorted by email address. */
export async function keyUsers({ db }: Context): Promise<{ id: number; email: string }[]> {
  const rows = await db.user.findMany({
    where: { apiKeys: { some: {} } },
    select: { id: true, email: true },
    orderBy: { email: 'asc' },
    take: 200,
  });
  return rows.map(({ id, email }) => ({ id: serializeId(id), email }));
}

function toWhere({ q, state, user, scope }: Partial<KeyQuery>, now: Date): Prisma.ApiKeyWhereInput {
  return {
    AND: [
      state === undefined ? {} : whereStatus(state, now),
      q === undefined ? {} : { OR: [{ name: { contains: escapeLike(q), mode: 'insensitive' } }, { lastFour: q }] },
      user === undefined ? {} : { userId: user },
      scope === undefined ? {} : { scopes: { has: scope } },
    ],
  };
}

/** Escapes the wildcards of the SQL operator LIKE in a text, because Prisma doesn't escape them. */
function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
