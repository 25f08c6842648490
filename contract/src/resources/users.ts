import * as z from 'zod';
import { readsOf } from '../changes.ts';
import { filter, listQuery, search } from '../endpoint.ts';
import { Id, responseText, text, trimmedText, UserEmail, versionFields } from '../fields.ts';

export const UserRole = z.enum(['ADMIN', 'AGENT', 'REQUESTER']).meta({
  id: 'UserRole',
  description: 'The role of the user in the workspace. What an API key can do depends on its scopes, not on this role.',
});
export type UserRole = z.output<typeof UserRole>;

export const UserKind = z.enum(['PERSON', 'SERVICE']).meta({
  id: 'UserKind',
  description: "`PERSON`, or `SERVICE` for a service account: a user for programs, who can't sign in.",
});
export type UserKind = z.output<typeof UserKind>;

const Name = trimmedText(1, 255).meta({ description: 'The full name of the user.' });
const JobTitle = trimmedText(1, 255).meta({ description: 'The job title, or null if not set.' });
const Department = trimmedText(1, 255).meta({ description: 'The department, or null if not set.' });
const Phone = trimmedText(1, 255).meta({ description: 'The phone number, as entered, or null if not set.' });
const TimeZone = trimmedText(1, 255).meta({
  description: 'The IANA time zone, such as `Europe/Berlin`, or null if not set.',
});

export const User = z
  .object({
    id: Id,
    name: responseText(Name),
    email: z
      .string()
      .min(1)
      .max(254)
      .meta({ format: 'email', description: 'The email address in lower case, unique in the workspace.' }),
    role: UserRole,
    kind: UserKind,
    active: z.boolean().meta({
      description: "Whether the user is active. You can't assign inactive users, and their API keys are invalid.",
    }),
    jobTitle: responseText(JobTitle).nullable(),
    department: responseText(Department).nullable(),
    phone: responseText(Phone).nullable(),
    timeZone: responseText(TimeZone).nullable(),
    ...versionFields,
  })
  .meta({
    id: 'User',
    description: 'A user of the workspace.',
    example: {
      id: 2,
      name: 'Jonas Weber',
      email: 'jonas.weber@acme.example',
      role: 'AGENT',
      kind: 'PERSON',
      active: true,
      jobTitle: 'Support engineer',
      department: 'IT',
      phone: '+49 341 5550 101',
      timeZone: 'Europe/Berlin',
      createdAt: '2025-02-01T08:00:00.000Z',
      updatedAt: '2025-02-01T08:00:00.000Z',
      etag: '"1-m6lwkjk0"',
    },
  });
export type User = z.output<typeof User>;

/** A new user. */
export const NewUser = z.strictObject({
  name: Name,
  email: UserEmail,
  role: UserRole,
  /** Default: `PERSON`. The kind of a user never changes. */
  kind: UserKind.optional(),
  jobTitle: JobTitle.nullish(),
  department: Department.nullish(),
  phone: Phone.nullish(),
  timeZone: TimeZone.nullish(),
});
export type NewUser = z.output<typeof NewUser>;

/** Changes to a user. */
export const UserPatch = NewUser.omit({ kind: true }).partial();
export type UserPatch = z.output<typeof UserPatch>;

const ActiveFilter = z
  .preprocess((value: boolean | 'true' | 'false') => {
    return value === 'true' ? true : value === 'false' ? false : value;
  }, z.boolean('must be true or false'))
  .meta({ example: true });

export const UserQuery = listQuery({
  role: filter(UserRole),
  active: filter(ActiveFilter),
  email: filter(text(1, 254).toLowerCase().meta({ example: 'jonas.weber@acme.example' })),
  q: search('name and email address'),
});
export type UserQuery = z.output<typeof UserQuery>;

export const users = readsOf('/users', 'a user', {
  ...{ row: User, query: UserQuery, scope: 'users:read', group: 'users' },
  agents: {
    list: {
      tool: 'list_users',
      when: 'Finds people by name, email address or role.',
      short: ['id', 'name', 'email', 'role', 'active'],
    },
  },
});
