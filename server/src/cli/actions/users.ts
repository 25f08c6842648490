import { NewUser, type User, UserPatch, UserQuery, UserRole } from '@itsm-api/contract';
import * as z from 'zod';
import { createInvitation, invitationDays, invitationLink } from '../../auth/accounts/invitations.ts';
import { eraseUser, findErasable } from '../../resources/privacy/erasure.ts';
import { findMentions } from '../../resources/privacy/mentions.ts';
import type { Context } from '../../resources/shared/context.ts';
import { activeTenantContext, requestContext, tenantContext } from '../../resources/tenants/queries.ts';
import { listUserKeys, type UserKey } from '../../resources/users/key-revocation.ts';
import { findUser, isErased, listUsers, userRows } from '../../resources/users/queries.ts';
import { TimeZone } from '../../resources/users/time-zone.ts';
import {
  activateUser,
  createUser,
  deactivateUser,
  isLowerRole,
  updateUser,
} from '../../resources/users/user-management.ts';
import { UserReference } from '../../resources/users/user-reference.ts';
import { CommandError } from '../lib/cli-errors.ts';
import { confirm } from '../lib/confirm.ts';
import { exportAction } from '../lib/export.ts';
import { shell } from '../lib/help.ts';
import { firstOf, Limit, listContext, moreHint } from '../lib/listing.ts';
import { activeLabel } from '../lib/output.ts';
import { action } from '../lib/run-command.ts';
import { updateInput } from '../lib/update.ts';

const Named = z.strictObject({ tenant: z.string(), user: UserReference });

export const list = action({
  input: z.strictObject({
    tenant: z.string(),
    role: UserRole.optional(),
    q: UserQuery.shape.q,
    limit: Limit,
  }),
  work: async (runtime, { tenant, role, q, limit }) => {
    const context = await listContext(runtime, tenant, q);
    return firstOf(limit, (page) => listUsers(context, { ...page, role: role && [role], q }));
  },
  format: (found, { table, time }) =>
    table(
      ['ID', 'NAME', 'EMAIL', 'ROLE', 'STATUS', 'CREATED'],
      found.map(({ id, name, email, role, active, createdAt }) => {
        return [id, name, email, role, activeLabel(active), time(createdAt)];
      }),
    ),
  hint: moreHint,
});

export const show = action({
  input: Named,
  work: async (runtime, { tenant, user }) => findUser(await tenantContext(runtime, tenant), user),
  format: ({ active, createdAt, updatedAt, jobTitle, timeZone, ...fields }, { card, time }) =>
    card({
      ...fields,
      'job title': jobTitle,
      'time zone': timeZone,
      status: activeLabel(active),
      created: time(createdAt),
      updated: time(updatedAt),
    }),
});

export const create = action({
  input: NewUser.extend({ tenant: z.string(), timeZone: TimeZone }),
  work: async (runtime, { tenant, ...user }) => createUser(await activeTenantContext(runtime, tenant), user),
  format: ({ name, email, id, kind, role }) =>
    `Created the ${kind === 'SERVICE' ? 'service account' : 'user'} ${name} <${email}> (ID ${id}) with role ${role}.`,
  next: ({ email }, { tenant }) => [
    shell`keys create --tenant ${tenant} --user ${email} --name mine --scopes tickets:read,tickets:write`,
  ],
});

const KeepKeys = { keepKeys: z.boolean().default(false) };

export const update = action({
  input: updateInput({ ...Named.shape, ...KeepKeys }, { ...UserPatch.shape, timeZone: TimeZone.optional() }),
  async work(runtime, { tenant, user, keepKeys, ...patch }) {
    const context = await tenantContext(runtime, tenant);
    const before = await findUser(context, user);
    if (patch.role !== undefined && isLowerRole(patch.role, before.role) && !keepKeys) {
      await confirmRevocation(context, before, `change the role of ${before.email} to ${patch.role}`);
    }
    return updateUser(context, before.id, patch, { keepKeys });
  },
  format: ({ name, email, id, role, revokedKeys }) =>
    [`Updated the user ${name} <${email}> (ID ${id}) with role ${role}.`, ...formatRevoked(revokedKeys)].join('\n'),
});

export const deactivate = action({
  input: Named.extend(KeepKeys),
  async work(runtime, { tenant, user, keepKeys }) {
    const context = await tenantContext(runtime, tenant);
    const before = await findUser(context, user);
    if (!keepKeys) await confirmRevocation(context, before, `deactivate ${before.email}`);
    return deactivateUser(context, before.id, { keepKeys });
  },
  format: ({ name, email, id, revokedKeys }) =>
    [`The user ${name} <${email}> (ID ${id}) is inactive.`, ...formatRevoked(revokedKeys)].join('\n'),
});

/**
 * If the command runs in a terminal, asks for confirmation before a change revokes API keys. @throws CommandError if
 * the user declines
 */
async function confirmRevocation(context: Context, { id }: User, change: string): Promise<void> {
  if (!process.stdin.isTTY) return;
  const keys = await listUserKeys(context, id);
  if (keys.length === 0) return;
  const isConfirmed = await confirm(`${change} and revoke the API keys ${keys.map(formatKey).join(', ')}`);
  if (!isConfirmed)
    throw new CommandError('Nothing was changed. To make the change without revoking the API keys, use --keep-keys.');
}

function formatRevoked(keys: UserKey[]): string[] {
  return keys.map((key) => `Revoked the API key ${formatKey(key)}.`);
}

function formatKey({ id, name, lastFour }: UserKey): string {
  return `${id} "${name}" (…${lastFour})`;
}

export const activate = action({
  input: Named,
  work: async (runtime, { tenant, user }) => activateUser(await tenantContext(runtime, tenant), user),
  format: (user) => `The user ${user.name} <${user.email}> (ID ${user.id}) is active.`,
});

export const invite = action({
  input: Named,
  work: async (runtime, { tenant, user }) => {
    const context = await activeTenantContext(runtime, tenant);
    const { id, name, email } = await findUser(context, user);
    const link = invitationLink(runtime.publicUrl, await createInvitation(context, id));
    return { id, name, email, link, days: invitationDays };
  },
  hint: ({ name, email, days }) =>
    `Send this link to ${name} <${email}>. It works once and expires after ${days} days. Earlier links no longer work.\n` +
    'Next, the user opens the link, chooses how to sign in, and can then create API keys in the developer area.',
  format: ({ link }) => link,
});

export const erase = action({
  input: Named.extend({ yes: z.boolean().default(false) }),
  async work(runtime, { tenant, user, yes }) {
    const context = await tenantContext(runtime, tenant);
    const before = await findErasable(context, user);
    if (!yes && !(await confirm(`permanently erase the personal data of ${before.name} <${before.email}>`))) {
      throw new CommandError('Nothing was changed.');
    }
    const mentions = await findMentions(await requestContext(runtime, tenant), before);
    return { ...(await eraseUser(context, before.id)), ...mentions, isRepeated: isErased(before) };
  },
  format: ({ name, id, revokedKeys, tickets, comments, attachments, isCapped, isRepeated }, { table }) => {
    if (isRepeated) return `User ${id} was already erased. To find texts that contain the former name, search for it.`;
    const rows = [
      ...tickets.map(({ id, ticketNumber }) => ['ticket', String(id), ticketNumber]),
      ...comments.map(({ id, ticketId }) => ['comment', String(id), String(ticketId)]),
      ...attachments.map(({ id, ticketId }) => ['attachment', String(id), String(ticketId)]),
    ];
    const found =
      rows.length === 0
        ? ['No ticket, comment or file name contains the name or the email address.']
        : ['These items contain the name or the email address:', table(['TYPE', 'ID', 'TICKET'], rows)];
    const more = isCapped ? ['More tickets match. Redact these tickets, then search for the name again.'] : [];
    return [`Erased user ${id}. The name is now "${name}".`, ...formatRevoked(revokedKeys), ...found, ...more].join(
      '\n',
    );
  },
  next: ({ tickets, comments }, { tenant }) => [
    ...(tickets.length > 0 ? [shell`tickets redact ${tickets[0]?.ticketNumber ?? ''} --tenant ${tenant}`] : []),
    ...(comments.length > 0 ? [shell`comments redact ${String(comments[0]?.id)} --tenant ${tenant}`] : []),
  ],
});

const exportRows = exportAction(userRows);

export { exportRows as export };
