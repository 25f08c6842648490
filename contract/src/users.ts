import * as z from 'zod';
import { changesOf } from './changes.ts';
import { endpoints, filter, IdParam, item, list, listQuery, meta, NoQuery, search } from './endpoint.ts';
import { answered, Id, text, timestamps, trimmedText } from './fields.ts';

export const UserRole = z.enum(['ADMIN', 'AGENT', 'REQUESTER']).meta({
  id: 'UserRole',
  description: "What the user is in the workspace. What a request may do is its key's scopes to say.",
});
export type UserRole = z.output<typeof UserRole>;

const Email = z.email().max(254).toLowerCase();
const Name = trimmedText(1, 255).meta({ description: 'What the user is called.' });
const JobTitle = trimmedText(1, 255).meta({ description: 'What the user does.' });
const Department = trimmedText(1, 255).meta({ description: 'Where in the company the user works.' });
const Phone = trimmedText(1, 255).meta({ description: 'The telephone number, as it was written.' });
const TimeZone = trimmedText(1, 255).meta({ description: 'The time zone, an IANA name such as Europe/Berlin.' });

export const User = z
  .object({
    id: Id,
    name: answered(Name),
    email: z
      .string()
      .min(1)
      .max(254)
      .meta({ format: 'email', description: 'The e-mail address, in lower case, unique in the workspace.' }),
    role: UserRole,
    active: z
      .boolean()
      .meta({ description: 'Whether the user is one still: others are not newly named, and their keys do not work.' }),
    jobTitle: answered(JobTitle).nullable(),
    department: answered(Department).nullable(),
    phone: answered(Phone).nullable(),
    timeZone: answered(TimeZone).nullable(),
    ...timestamps,
  })
  .meta({
    id: 'User',
    description: 'A person of the workspace.',
    example: {
      id: 2,
      name: 'Jonas Weber',
      email: 'jonas.weber@acme.example',
      role: 'AGENT',
      active: true,
      jobTitle: 'Support engineer',
      department: 'IT',
      phone: '+49 341 5550 101',
      timeZone: 'Europe/Berlin',
      createdAt: '2025-02-01T08:00:00.000Z',
      updatedAt: '2025-02-01T08:00:00.000Z',
    },
  });
export type User = z.output<typeof User>;

/** No endpoint of v1 creates users; the command line does, with this schema. */
export const NewUser = z.strictObject({
  name: Name,
  email: Email,
  role: UserRole,
  jobTitle: JobTitle.nullish(),
  department: Department.nullish(),
  phone: Phone.nullish(),
  timeZone: TimeZone.nullish(),
});
export type NewUser = z.output<typeof NewUser>;

/** No endpoint of v1 changes users; the command line does, with this schema. */
export const UserPatch = NewUser.partial();
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
  q: search('name and e-mail address'),
});
export type UserQuery = z.output<typeof UserQuery>;

export const users = endpoints({
  list: {
    method: 'GET',
    path: '/users',
    summary: 'List users',
    description: 'Newest first. Filters combine with AND; the values of one filter with OR.',
    metadata: meta({
      scope: 'users:read',
      group: 'users',
      agent: {
        tool: 'list_users',
        when: 'Finds people by name or e-mail address; others want their id.',
        short: ['id', 'name', 'email', 'role', 'active'],
      },
    }),
    query: UserQuery,
    responses: { 200: list(User) },
  },
  changes: changesOf('/users', User, meta({ scope: 'users:read', group: 'users' })),
  get: {
    method: 'GET',
    path: '/users/:id',
    summary: 'Get a user',
    metadata: meta({ scope: 'users:read', group: 'users' }),
    pathParams: IdParam,
    query: NoQuery,
    responses: { 200: item(User) },
  },
});
