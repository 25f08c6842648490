import { findUserId, getUser } from '../resources/users/queries.ts';
import { UserReference } from '../resources/users/user-reference.ts';
import { type Converter, converter } from './noun.ts';

/** Returns the converter of a field that contains the id of a user. People type an email address or an id. */
export function userConverter<Name extends string>(name: Name): Converter<Record<Name, number | null>, number | null> {
  return converter(
    UserReference,
    (context, user) => findUserId(context, name, user),
    async (context, row: Record<Name, number | null>) => {
      const id = row[name];
      if (id === null) return '';
      const { active, email } = await getUser(context, id);
      // The field accepts only email addresses of active users.
      return active ? email : String(id);
    },
  );
}
