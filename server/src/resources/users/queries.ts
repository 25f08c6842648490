import type { NewUser, User, UserKind, UserPatch, UserQuery, UserRole } from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { createUnique } from '../../database/client/unique-violation.ts';
import { lockRow, lockTenant } from '../../database/row-lock.ts';
import { ApiError, invalidField, notFound, takenBy } from '../../shared/errors.ts';
import { withEtag } from '../../shared/etag.ts';
import { serializeId, serializeTimestamps } from '../../shared/serialize.ts';
import { type AuditContext, auditChanges, recordAudit } from '../audit/audit-entry.ts';
import { type Context, transaction } from '../shared/context.ts';
import { noSuchUser } from '../shared/foreign-keys.ts';
import { anyOf, anyOfActive, type Page, pageMeta, readSearchablePage } from '../shared/lists.ts';
import { changeVersioned } from '../shared/versioned-change.ts';
import { rowsOf } from '../sync/change-feed.ts';
import { withdrawApprovals } from '../tickets/approvals/queries.ts';
import { type KeyChoice, revokeUserKeys, type UserKey } from './key-revocation.ts';
import type { UserReference } from './user-reference.ts';

type UserRow = Prisma.UserGetPayload<object>;

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

/** Returns a map from user id to email address. */
export async function findEmails(
  context: Pick<Context, 'db'>,
  ids: Iterable<number | null>,
): Promise<Map<number, string>> {
  return new Map((await findUsersById(context, ids)).map(({ id, email }) => [id, email]));
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
  const row = await db.user.findFirst({ where: { id } });
  if (row === null) throw notFound('user');
  return presentUser(row);
}

/**
 * Creates an active user. Only the command line and the developer area use this function, because API v1 has no
 * endpoint for it.
 * @throws ApiError VALIDATION_ERROR if the email address is already in use, or if the role of a service account isn't
 * AGENT
 */
export async function createUser(context: AuditContext, input: NewUser): Promise<User> {
  const { kind = 'PERSON' } = input;
  checkRole(kind, input.role);
  const data = {
    kind,
    name: input.name,
    email: input.email,
    role: input.role,
    jobTitle: input.jobTitle ?? null,
    department: input.department ?? null,
    phone: input.phone ?? null,
    timeZone: input.timeZone ?? null,
  } satisfies Record<keyof NewUser, unknown>;
  return transaction(context, async (context) => {
    const row = await createUnique('email', takenBy('user', input.email), () => context.db.user.create({ data }));
    await recordAudit(context, {
      action: 'user.created',
      target: targetOf(row),
      changes: auditChanges({}, row, stored),
    });
    return presentUser(row);
  });
}

/** The fields of a user whose values the audit log stores. Of other fields, it stores only that they changed. */
const stored = ['kind', 'role', 'active'] as const;
const nameOnly = ['name', 'email', 'jobTitle', 'department', 'phone', 'timeZone'] as const;

function targetOf({ id }: Pick<UserRow, 'id'>) {
  return { type: 'user', id } as const;
}

/** Checks that a user of this kind can have a role. @throws ApiError VALIDATION_ERROR */
function checkRole(kind: UserKind, role: UserRole): void {
  if (kind === 'SERVICE' && role !== 'AGENT') {
    throw invalidField('VALIDATION_ERROR', 'role', 'must be AGENT, because the user is a service account');
  }
}

/** Finds a user by email address or id. @throws ApiError NOT_FOUND */
export async function findUser({ db }: Pick<Context, 'db'>, reference: string | number): Promise<User> {
  const row = await db.user.findFirst({ where: whereOf(reference) });
  if (row === null) throw notFound('user', 'id or email address');
  return presentUser(row);
}

/** A changed user, and the API keys that were revoked because the user lost rights. */
export type ChangedUser = User & { revokedKeys: UserKey[] };

/** The roles of users, from the most rights to the fewest. */
const rolesByRights: readonly UserRole[] = ['ADMIN', 'AGENT', 'REQUESTER'];

/** Returns true if `role` has fewer rights than the previous role. */
export function isLowerRole(role: UserRole, before: UserRole): boolean {
  return rolesByRights.indexOf(role) > rolesByRights.indexOf(before);
}

/**
 * Updates a user. If the patch changes nothing, `updatedAt` stays the same. If the new role has fewer rights, revokes the
 * user's API keys. If the new role is REQUESTER, also ends the user's sessions in the developer area, and withdraws the user's pending approvals. Only the command line and
 * the developer area use this function, because API v1 has no endpoint for it.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, or VALIDATION_ERROR if the email address is already in use, if no
 * administrator would remain, if the user was erased, or if the role of a service account isn't AGENT
 */
export function updateUser(
  context: Context,
  reference: string | number,
  data: UserPatch,
  choice: KeyChoice = {},
): Promise<ChangedUser> {
  return withRemainingAdministrator(context, async (context) => {
    const { id } = await findUser(context, reference);
    return changeVersioned<ChangedUser>(context, {
      lock: ({ db }) => lockRow(db, 'users', id),
      read: async (context) => {
        const user = await findUser(context, id);
        assertNotErased(user);
        return { ...user, revokedKeys: [] };
      },
      merge: (before) => {
        checkRole(before.kind, data.role ?? before.role);
        return { ...before, ...data };
      },
      write: async (context, { before }) => {
        const { db } = context;
        const [row] = await createUnique('email', takenBy('user', String(data.email)), () =>
          db.user.updateManyAndReturn({ where: { id }, data }),
        );
        if (row === undefined) throw notFound('user');
        const changes = auditChanges(before, presentUser(row), stored, nameOnly);
        await recordAudit(context, { action: 'user.updated', target: targetOf(row), changes });
        if (row.role === 'REQUESTER') {
          await endAccess(db, row.id);
          await withdrawApprovals(context, row.id);
        }
        const revokedKeys = isLowerRole(row.role, before.role) ? await revokeUserKeys(context, row.id, choice) : [];
        return { ...presentUser(row), revokedKeys };
      },
    });
  });
}

/**
 * Deactivates a user and revokes the user's API keys. If `keepKeys` is true, the keys aren't revoked, but the server
 * rejects them until the user is activated again. Also ends the user's sessions in the developer area, permanently
 * invalidates the user's sign-in links, and withdraws the user's pending approvals.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if no administrator would remain
 */
export function deactivateUser(
  context: Context,
  reference: string | number,
  choice: KeyChoice = {},
): Promise<ChangedUser> {
  return withRemainingAdministrator(context, async (context) => {
    const user = await setActive(context, reference, false);
    await endAccess(context.db, user.id);
    await withdrawApprovals(context, user.id);
    return { ...user, revokedKeys: await revokeUserKeys(context, user.id, choice) };
  });
}

/**
 * Ends a user's sessions in the developer area and invalidates the user's sign-in links. The links stay invalid even if
 * the user is activated again.
 */
async function endAccess(db: TenantClient, userId: number | bigint): Promise<void> {
  const now = new Date();
  await db.session.updateMany({ where: { userId, endedAt: null }, data: { endedAt: now } });
  await db.invitation.updateMany({ where: { userId, usedAt: null }, data: { usedAt: now } });
}

/**
 * Activates a user. The user's unrevoked API keys become valid again.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if the user was erased
 */
export function activateUser(context: AuditContext, reference: string | number): Promise<User> {
  return transaction(context, async (context) => {
    const user = await setActive(context, reference, true);
    assertNotErased(user);
    return user;
  });
}

/** Returns the email address of a user after their personal data was erased. It marks the user as erased. */
export function erasedEmail(id: number): string {
  return `erased-${id}@erased.invalid`;
}

/** Returns true if the personal data of the user was erased. */
export function isErased({ id, email }: Pick<User, 'id' | 'email'>): boolean {
  return email === erasedEmail(id);
}

/** Rejects changes to an erased user, because another person would take over the history of the user. */
function assertNotErased(user: User): void {
  if (!isErased(user)) return;
  throw new ApiError('VALIDATION_ERROR', 'This user was erased. Create a new user instead.');
}

/** A repeated call changes nothing. */
async function setActive(context: AuditContext, reference: string | number, active: boolean): Promise<User> {
  const where = { ...whereOf(reference), active: !active };
  const [row] = await context.db.user.updateManyAndReturn({ where, data: { active } });
  if (row === undefined) return findUser(context, reference);
  const action = active ? 'user.activated' : 'user.deactivated';
  await recordAudit(context, { action, target: targetOf(row) });
  return presentUser(row);
}

/**
 * Runs `change`, and rolls it back if no active administrator would remain in the workspace. Acquires a lock, so that
 * two concurrent changes can't remove the last two administrators. Changes on the command line aren't checked
 * (docs/decisions/data-model.md).
 * @throws ApiError VALIDATION_ERROR if no administrator would remain
 */
function withRemainingAdministrator(
  context: Context,
  change: (context: Context) => Promise<ChangedUser>,
): Promise<ChangedUser> {
  return transaction(context, async (context) => {
    const { db, userId } = context;
    if (userId === undefined) return change(context);
    await lockTenant(db, 'administrators');
    const user = await change(context);
    await assertAdministrator(db);
    return user;
  });
}

/**
 * Checks that the workspace has an active administrator. The caller holds the lock `administrators`.
 * @throws ApiError VALIDATION_ERROR
 */
export async function assertAdministrator(db: TenantClient): Promise<void> {
  const left = await db.user.count({ where: { role: 'ADMIN', active: true } });
  if (left === 0) throw new ApiError('VALIDATION_ERROR', lastAdministratorMessage);
}

const lastAdministratorMessage =
  'This is the last active administrator of the workspace. Give another active user the role ADMIN first.';

function whereOf(reference: string | number): { email: string } | { id: number } {
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
