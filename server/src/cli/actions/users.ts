import { NewUser, UserPatch, UserQuery, UserRole } from '@itsm-api/contract';
import * as z from 'zod';
import { createInvitation, invitationDays, invitationLink } from '../../identity/invitations.ts';
import { activeTenantContext, tenantContext } from '../../resources/tenants/queries.ts';
import {
  activateUser,
  createUser,
  deactivateUser,
  findUser,
  listUsers,
  updateUser,
  userRows,
} from '../../resources/users/queries.ts';
import { UserReference } from '../../resources/users/reference.ts';
import { TimeZone } from '../../resources/users/time-zone.ts';
import { exportOf } from '../export.ts';
import { shell } from '../help.ts';
import { firstOf, Limit, listContext, moreHint } from '../listing.ts';
import { action } from '../run.ts';
import { updateInput } from '../update.ts';
import { activity } from '../view.ts';

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
      ['ID', 'NAME', 'E-MAIL', 'ROLE', 'STATE', 'CREATED'],
      found.map(({ id, name, email, role, active, createdAt }) => {
        return [id, name, email, role, activity(active), time(createdAt)];
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
      state: activity(active),
      created: time(createdAt),
      updated: time(updatedAt),
    }),
});

export const create = action({
  input: NewUser.extend({ tenant: z.string(), timeZone: TimeZone }),
  work: async (runtime, { tenant, ...user }) => createUser(await activeTenantContext(runtime, tenant), user),
  format: ({ name, email, id, role }) => `Created the user ${name} <${email}> (id ${id}), ${role}.`,
  next: ({ email }, { tenant }) => [
    shell`keys create --tenant ${tenant} --user ${email} --name mine --scopes tickets:read,tickets:write`,
  ],
});

export const update = action({
  input: updateInput(Named.shape, { ...UserPatch.shape, timeZone: TimeZone.optional() }),
  work: async (runtime, { tenant, user, ...patch }) => updateUser(await tenantContext(runtime, tenant), user, patch),
  format: ({ name, email, id, role }) => `The user ${name} <${email}> (id ${id}), ${role}, is changed.`,
});

export const deactivate = action({
  input: Named,
  work: async (runtime, { tenant, user }) => deactivateUser(await tenantContext(runtime, tenant), user),
  format: (user) => `The user ${user.name} <${user.email}> (id ${user.id}) is inactive.`,
});

export const activate = action({
  input: Named,
  work: async (runtime, { tenant, user }) => activateUser(await tenantContext(runtime, tenant), user),
  format: (user) => `The user ${user.name} <${user.email}> (id ${user.id}) is active.`,
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
    `Pass this on to ${name} <${email}>: it lets them into the developer area once, within ${days} days. Links of before work no more.`,
  format: ({ link }) => link,
});

const exportRows = exportOf(userRows);

export { exportRows as export };
