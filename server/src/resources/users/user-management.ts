import type { NewUser, User, UserKind, UserPatch, UserRole } from '@itsm-api/contract';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { createUnique } from '../../database/client/unique-violation.ts';
import { lockRow, lockTenant } from '../../database/row-lock.ts';
import { ApiError, invalidField, notFound, takenBy } from '../../shared/errors.ts';
import { type AuditContext, auditChanges, recordAudit } from '../audit/audit-entry.ts';
import { type Context, transaction } from '../shared/context.ts';
import { withdrawOfUser } from '../shared/proposal-withdrawal.ts';
import { changeVersioned } from '../shared/versioned-change.ts';
import { withdrawApprovals } from '../tickets/approvals/queries.ts';
import { type KeyChoice, revokeUserKeys, type UserKey } from './key-revocation.ts';
import { findUser, isErased, presentUser, type UserRow, whereOf } from './queries.ts';

/**
 * Creates an active user.
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
 * user's API keys. If the new role is REQUESTER, also ends the user's sessions in the developer area, and withdraws the
 * user's pending approvals.
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
 * invalidates the user's sign-in links, and withdraws the user's pending approvals and proposals.
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
    const revokedKeys = await revokeUserKeys(context, user.id, choice);
    // After the keys, in the order of `revokeKey`. Otherwise, transactions could deadlock.
    await withdrawOfUser(context, user.id);
    return { ...user, revokedKeys };
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
