import { NewUser, UserPatch, UserRole } from '@itsm-api/contract';
import * as z from 'zod';
import { activeTenantContext, tenantContext } from '../resources/tenants/queries.ts';
import {
  activateUser,
  createUser,
  deactivateUser,
  findUser,
  listUsers,
  updateUser,
  userRows,
} from '../resources/users/queries.ts';
import { common, type Noun, type Parameter } from './command.ts';
import { exportOf } from './export.ts';
import { shell } from './help.ts';
import { firstOf, Limit, moreHint } from './listing.ts';
import { action } from './run.ts';
import { clearing, updateInput } from './update.ts';
import { UserReference } from './user-reference.ts';
import { state } from './view.ts';

const timeZone = NewUser.shape.timeZone.refine(
  (name) => name == null || isTimeZone(name),
  'must be the IANA name of a time zone, such as Europe/Berlin',
);

const user = { flags: '<user>', about: 'e-mail address or id of the user', values: 'users' } as const;
const Named = z.strictObject({ tenant: z.string(), user: UserReference });

const fields = [
  { flags: '--job-title <title>' },
  { flags: '--department <department>' },
  { flags: '--phone <phone>' },
  { flags: '--time-zone <zone>', about: 'IANA name such as Europe/Berlin' },
] satisfies Parameter[];
const name = { flags: '--name <name>', about: 'name of the person' };
const email = { flags: '--email <email>', about: 'e-mail address, unique in the tenant' };
const role = { flags: '--role <role>', about: UserRole.options.join(', '), values: UserRole.options };

export const users: Noun = {
  verbs: {
    list: {
      summary: 'List the users of a tenant, newest first',
      options: [
        common.tenant,
        { flags: '--role <role>', about: `only ${UserRole.options.join(', ')}`, values: UserRole.options },
        { flags: '--q <words>', about: 'only those with these words in name or e-mail address' },
        common.limit,
        common.utc,
      ],
      examples: ['users list --tenant Acme', 'users list --tenant Acme --role ADMIN'],
      run: action({
        input: z.strictObject({
          tenant: z.string(),
          role: UserRole.optional(),
          q: z.string().min(1).optional(),
          limit: Limit,
        }),
        work: async (runtime, { tenant, role, q, limit }) => {
          const context = await tenantContext(runtime, tenant);
          return firstOf(limit, (page) => listUsers(context, { ...page, q, role: role && [role] }));
        },
        format: (found, { table, time }) =>
          table(
            ['ID', 'NAME', 'E-MAIL', 'ROLE', 'STATE', 'CREATED'],
            found.map(({ id, name, email, role, active, createdAt }) => {
              return [id, name, email, role, state(active ? 'active' : 'inactive'), time(createdAt)];
            }),
          ),
        hint: moreHint,
      }),
    },
    show: {
      summary: 'Show a user',
      arguments: [user],
      options: [common.tenant, common.utc],
      examples: ['users show jonas@acme.example --tenant Acme'],
      run: action({
        input: Named,
        work: async (runtime, { tenant, user }) => findUser(await tenantContext(runtime, tenant), user),
        format: ({ active, createdAt, updatedAt, jobTitle, timeZone, ...fields }, { card, time }) =>
          card({
            ...fields,
            'job title': jobTitle,
            'time zone': timeZone,
            state: state(active ? 'active' : 'inactive'),
            created: time(createdAt),
            updated: time(updatedAt),
          }),
      }),
    },
    create: {
      summary: 'Create a user',
      options: [
        common.tenant,
        { ...name, required: true },
        { ...email, required: true },
        { ...role, required: true },
        ...fields,
      ],
      examples: [
        'users create --tenant Acme --name "Jonas Weber" --email jonas@acme.example --role AGENT --department IT',
      ],
      run: action({
        input: NewUser.extend({ tenant: z.string(), timeZone }),
        work: async (runtime, { tenant, ...user }) => createUser(await activeTenantContext(runtime, tenant), user),
        format: ({ name, email, id, role }) => `Created the user ${name} <${email}> (id ${id}), ${role}.`,
        next: ({ email }, { tenant }) => [
          shell`keys create --tenant ${tenant} --user ${email} --name mine --scopes tickets:read,tickets:write`,
        ],
      }),
    },
    update: {
      summary: 'Change a user',
      details: clearing,
      arguments: [user],
      options: [common.tenant, name, email, role, ...fields],
      examples: [
        'users update jonas@acme.example --tenant Acme --role ADMIN',
        "users update 7 --tenant Acme --phone ''",
      ],
      run: action({
        input: updateInput(Named.shape, { ...UserPatch.shape, timeZone: timeZone.optional() }),
        work: async (runtime, { tenant, user, ...patch }) =>
          updateUser(await tenantContext(runtime, tenant), user, patch),
        format: ({ name, email, id, role }) => `The user ${name} <${email}> (id ${id}), ${role}, is changed.`,
      }),
    },
    deactivate: {
      summary: 'Deactivate a user: their keys stop working at once, and nothing can be assigned to them any more',
      arguments: [user],
      options: [common.tenant],
      examples: ['users deactivate jonas@acme.example --tenant Acme'],
      run: action({
        input: Named,
        work: async (runtime, { tenant, user }) => deactivateUser(await tenantContext(runtime, tenant), user),
        format: (user) => `The user ${user.name} <${user.email}> (id ${user.id}) is inactive.`,
      }),
    },
    activate: {
      summary: 'Activate a user again: their keys work again',
      arguments: [user],
      options: [common.tenant],
      examples: ['users activate jonas@acme.example --tenant Acme'],
      run: action({
        input: Named,
        work: async (runtime, { tenant, user }) => activateUser(await tenantContext(runtime, tenant), user),
        format: (user) => `The user ${user.name} <${user.email}> (id ${user.id}) is active.`,
      }),
    },
    export: exportOf(userRows),
  },
};

function isTimeZone(name: string): boolean {
  // Intl also takes offsets such as +01:00, which know no summer time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
