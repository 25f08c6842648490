import type { User } from '@itsm-api/contract';
import * as z from 'zod';
import type { Context } from '../resources/shared/context.ts';
import { findUserId, findUserIds, findUsersById, listUsers } from '../resources/users/queries.ts';
import { UserReference } from '../resources/users/user-reference.ts';
import { invalidField } from '../shared/errors.ts';
import { type Converter, converter } from './noun.ts';

/** Returns the converter of a field that contains the id of a user. People type an email address or an id. */
export function userConverter<Name extends string>(name: Name): Converter<Record<Name, number | null>, number | null> {
  return converter(
    UserReference,
    (context, user) => findUserId(context, name, user),
    (context, row: Record<Name, number | null>) => toText(context, [row[name]]),
  );
}

/**
 * Returns the converter of a field that contains the ids of users. People type email addresses and ids, separated by
 * commas or white space. The converter looks up only email addresses, and doesn't check ids.
 * @param max the maximum number of users
 */
export function userListConverter<Name extends string>(
  name: Name,
  max: number,
): Converter<Record<Name, number[]>, number[]> {
  return converter(
    z
      .string()
      .transform((text) => text.split(/[\s,]+/).filter((part) => part !== ''))
      .pipe(z.array(UserReference).max(max, `must contain at most ${max} users`)),
    async (context, users) => {
      const emails = users.filter((user) => typeof user === 'string');
      const ids = await findUserIds(context, emails);
      const unknown = emails.find((email) => !ids.has(email));
      if (unknown !== undefined) {
        throw invalidField('INVALID_REFERENCE', name, `contains ${unknown}, but no active user has this address`);
      }
      return users.map((user) => (typeof user === 'string' ? (ids.get(user) as number) : user));
    },
    (context, row: Record<Name, number[]>) => toText(context, row[name]),
    (context, row) => findChoices(context, row?.[name] ?? []),
  );
}

/** The maximum number of agents and administrators that a form lists. */
const maxListed = 200;

/**
 * Returns the users whom a form offers, by name: the given users, and all active agents and administrators. Returns
 * undefined if there are too many.
 */
async function findChoices(
  context: Context,
  ids: readonly number[],
): Promise<{ value: string; label: string }[] | undefined> {
  const query = { page: 1, perPage: maxListed, active: [true], role: ['ADMIN' as const, 'AGENT' as const] };
  const { data, meta } = await listUsers(context, query);
  if (meta.totalCount > maxListed) return undefined;
  const users = new Map([...data, ...(await findUsersById(context, ids))].map((user) => [user.id, user]));
  return [...users.values()]
    .sort((a, b) => a.name.localeCompare(b.name, 'en') || a.id - b.id)
    .map((user) => ({ value: lineOf(user), label: `${user.name} (${user.email})${user.active ? '' : ', inactive'}` }));
}

/** Returns users as text, one per line. The fields accept only email addresses of active users. */
async function toText(context: Context, ids: readonly (number | null)[]): Promise<string> {
  const users = await findUsersById(context, ids);
  return users.map(lineOf).join('\n');
}

function lineOf({ id, email, active }: Pick<User, 'id' | 'email' | 'active'>): string {
  return active ? email : String(id);
}
