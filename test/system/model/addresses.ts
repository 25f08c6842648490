import type { User } from '@itsm-api/contract';

/* Names users by email address in requests. An address has the same effect as the id (docs/decisions/api-conventions.md). */

/** The body fields and filters that name users. */
const fields: readonly string[] = [
  'requesterId',
  'assigneeId',
  'approverId',
  'assignedToId',
  'authorId',
  'watcherUserIds',
  'watcherUserId',
];

/** The query string and the body of a request. */
interface Content {
  search?: string;
  body?: unknown;
}

/** Returns a request with addresses instead of the ids of users. An id without a user becomes an unknown address. */
export function withEmails<Request extends Content>(request: Request, users: readonly User[]): Request {
  const addressOf = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(addressOf);
    if (typeof value !== 'number') return value;
    const { email = `nobody${value}@example.com` } = users.find(({ id }) => id === value) ?? {};
    return value % 2 === 0 ? email : email.toUpperCase();
  };
  const { body, search } = request;
  const rename = (name: string, value: unknown) => (fields.includes(name) ? addressOf(value) : value);
  const query = new URLSearchParams(search);
  for (const name of fields) {
    const values = query.get(name)?.split(',');
    const named = values?.map((each) => addressOf(/^\d+$/.test(each) ? Number(each) : each));
    if (named !== undefined) query.set(name, named.join());
  }
  return {
    ...request,
    ...(typeof body === 'object' && { body: JSON.parse(JSON.stringify(body, rename)) }),
    ...(search !== undefined && { search: query.toString() }),
  };
}

/** Returns true if a request names a user by address. */
export function hasEmail({ body, search = '' }: Content): boolean {
  return search.includes('%40') || (typeof body === 'object' && JSON.stringify(body).includes('@'));
}
