import type { Context } from '../context.ts';
import { invalidField } from '../errors.ts';
import { listUsers } from '../resources/users/queries.ts';
import type { UserReference } from './user-reference-schema.ts';

/** What is wrong with a reference that is well written. */
export const noSuchUser = 'names no active user of this workspace';

/** The ids of the active users with these e-mail addresses. */
export async function findUserIds(context: Context, emails: Iterable<string>): Promise<Map<string, number>> {
  const wanted = [...new Set(emails)];
  const ids = new Map<string, number>();
  for (let start = 0; start < wanted.length; start += 1000) {
    const email = wanted.slice(start, start + 1000);
    const { data } = await listUsers(context, { page: 1, perPage: email.length, active: [true], email });
    for (const user of data) ids.set(user.email, user.id);
  }
  return ids;
}

/** The id of the user. @throws ApiError INVALID_REFERENCE, for the field, when the e-mail address is no active user's */
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
