import type { User, UserQuery } from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { invalidField, requireRow } from '../../shared/errors.ts';
import { withEtag } from '../../shared/etag.ts';
import { serializeId, serializeTimestamps } from '../../shared/serialize.ts';
import type { Context } from '../shared/context.ts';
import { noSuchUser } from '../shared/foreign-keys.ts';
import { anyOf, anyOfActive, type Page, pageMeta, readSearchablePage } from '../shared/lists.ts';
import { rowsOf } from '../sync/change-feed.ts';
import type { UserReference } from './user-reference.ts';

export type UserRow = Prisma.UserGetPayload<object>;

/**
 * Returns a page of users, newest first (spec §4).
 * @param ids limits the list to these users; default: all users
 */
export async function listUsers(
  { db }: Context,
  query: UserQuery,
  { ids }: { ids?: number[] } = {},
): Promise<Page<User>> {
  if (ids?.length === 0) return { data: [], meta: pageMeta(query, { totalCount: 0 }) };
  const where = {
    ...anyOf('role', query.role),
    ...anyOfActive(query.active),
    ...anyOf('email', query.email),
    ...anyOf('id', ids),
  };
  return readSearchablePage(query, {
    db,
    resource: 'users',
    where,
    count: () => db.user.count({ where }),
    find: async (asked) => (await db.user.findMany({ orderBy: { id: 'desc' }, ...asked })).map(presentUser),
  });
}

/** Returns a map from email address to user id. Contains only active users. */
export async function findUserIds(context: Context, emails: Iterable<string>): Promise<Map<string, number>> {
  const unique = [...new Set(emails)];
  const ids = new Map<string, number>();
  for (let start = 0; start < unique.length; start += 1000) {
    const email = unique.slice(start, start + 1000);
    const { data } = await listUsers(context, { page: 1, perPage: email.length, active: [true], email });
    for (const user of data) ids.set(user.email, user.id);
  }
  return ids;
}

/** Returns a map from user id to display name. */
export async function findUserNames(
  context: Pick<Context, 'db'>,
  ids: Iterable<number | null>,
): Promise<Map<number, string>> {
  return new Map((await findUsersById(context, ids)).map(({ id, name }) => [id, name]));
}

/** Returns the id, the name, the email address and the status of users, sorted by id. */
export async function findUsersById({ db }: Pick<Context, 'db'>, ids: Iterable<number | null>) {
  const unique = [...new Set(ids)].filter((id) => id !== null);
  if (unique.length === 0) return [];
  const rows = await db.user.findMany({
    where: { id: { in: unique } },
    select: { id: true, name: true, email: true, active: true },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ id, ...user }) => ({ id: serializeId(id), ...user }));
}

/**
 * Returns the id of a user. If the reference is an email address, looks up the active user with this address. If the
 * reference is an id, returns it without a check. Returns null if there is no reference.
 * @throws ApiError INVALID_REFERENCE for the field if no active user has the email address
 */
export async function findUserId(
  context: Context,
  field: string,
  reference: UserReference | undefined,
): Promise<number | null> {
  if (typeof reference !== 'string') return reference ?? null;
  const id = (await findUserIds(context, [reference])).get(reference);
  if (id === undefined) throw invalidField('INVALID_REFERENCE', field, noSuchUser);
  return id;
}

/** Functions that read users for incremental sync and exports. */
export const userRows = rowsOf('users', (db, page) => db.user.findMany(page), presentUser);

/** Returns one user. @throws ApiError NOT_FOUND */
export async function getUser({ db }: Context, id: number): Promise<User> {
  return presentUser(requireRow(await db.user.findFirst({ where: { id } }), 'user'));
}

/** Finds a user by email address or id. @throws ApiError NOT_FOUND */
export async function findUser({ db }: Pick<Context, 'db'>, reference: string | number): Promise<User> {
  return presentUser(requireRow(await db.user.findFirst({ where: whereOf(reference) }), 'user', 'id or email address'));
}

/** Returns the email address of a user after their personal data was erased. It marks the user as erased. */
export function erasedEmail(id: number): string {
  return `erased-${id}@erased.invalid`;
}

/** Returns true if the personal data of the user was erased. */
export function isErased({ id, email }: Pick<User, 'id' | 'email'>): boolean {
  return email === erasedEmail(id);
}

export function whereOf(reference: string | number): { email: string } | { id: number } {
  return typeof reference === 'number' ? { id: reference } : { email: reference };
}

/** Serializes a user for API responses. */
export function presentUser(row: UserRow): User {
  return withEtag(row.version, {
    id: serializeId(row.id),
    name: row.name,
    email: row.email,
    role: row.role,
    kind: row.kind,
    active: row.active,
    jobTitle: row.jobTitle,
    department: row.department,
    phone: row.phone,
    timeZone: row.timeZone,
    ...serializeTimestamps(row),
  });
}
