import type { ErrorDetail } from '@itsm-api/contract';
import { queryOne, tenantQuery } from '../../database/client/raw-sql.ts';
import { ApiError } from '../../shared/errors.ts';
import type { Context } from './context.ts';

/** The error of a reference to a user that doesn't exist or is inactive. */
export const noSuchUser = 'must be an active user of this workspace';

/** The error of a reference to a ticket that doesn't exist. */
export const noSuchTicket = 'must be a ticket of this workspace';

/** An id in a body, and the field that gives it. */
interface Reference {
  path: string;
  id: number;
}

/** The ids in a body, by what they must name: active users, and tickets. */
export interface References {
  users: readonly Reference[];
  tickets: readonly Reference[];
}

/** The ids that name something in the tenant. */
export type Known = Readonly<Record<keyof References, ReadonlySet<number>>>;

/** The reference that a nullable field makes, unless it is cleared, absent or what it was before. */
export function reference(path: string, id: number | null | undefined, before?: number | null): Reference[] {
  return id == null || id === before ? [] : [{ path, id }];
}

/**
 * Checks that each id names an active user of the tenant.
 * @throws ApiError INVALID_REFERENCE naming each field that doesn't
 */
export async function checkUsers(context: Context, users: readonly Reference[]): Promise<void> {
  await checkReferences(context, { users, tickets: [] });
}

/**
 * Checks that all ids of a body name what they must.
 * @throws ApiError INVALID_REFERENCE naming each field that doesn't
 */
export async function checkReferences(context: Context, references: References): Promise<void> {
  assertKnown(references, await findKnown(context, [references]));
}

/** Looks up the ids of any number of bodies in one statement; in none if there are no ids. */
export async function findKnown({ db }: Context, all: readonly References[]): Promise<Known> {
  const named = { users: idsOf(all, 'users'), tickets: idsOf(all, 'tickets') };
  const isEmpty = named.users.length === 0 && named.tickets.length === 0;
  const found = isEmpty ? undefined : await queryOne<typeof named>(db, lookUp, [named.users, named.tickets]);
  return { users: new Set(found?.users), tickets: new Set(found?.tickets) };
}

const lookUp = tenantQuery(`SELECT
  ARRAY(SELECT id FROM users WHERE tenant_id = $1 AND id = ANY ($2::bigint[]) AND active) AS users,
  ARRAY(SELECT id FROM tickets WHERE tenant_id = $1 AND id = ANY ($3::bigint[])) AS tickets`);

function idsOf(all: readonly References[], kind: keyof References): number[] {
  return [...new Set(all.flatMap((references) => references[kind].map(({ id }) => id)))];
}

/** @throws ApiError INVALID_REFERENCE naming each field whose id is not known */
export function assertKnown({ users, tickets }: References, known: Known): void {
  const details = [...unknownOf(users, known.users, noSuchUser), ...unknownOf(tickets, known.tickets, noSuchTicket)];
  const [first] = details;
  if (first === undefined) return;
  throw new ApiError('INVALID_REFERENCE', `${first.path} ${first.message}`, { details: details.slice(0, 20) });
}

function unknownOf(references: readonly Reference[], known: ReadonlySet<number>, message: string): ErrorDetail[] {
  return references.filter(({ id }) => !known.has(id)).map(({ path }) => ({ path, message }));
}
