import type { ErrorDetail } from '@itsm-api/contract';
import type { Context } from '../context.ts';
import { type Statement, selectTogether } from '../database/statements.ts';
import { ApiError } from '../errors.ts';

/** What is wrong with a reference to a user that is well written. */
export const noSuchUser = 'names no active user of this workspace';

/** The same of a ticket. */
export const noSuchTicket = 'names no ticket of this workspace';

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
  refuseUnknown(references, await findKnown(context, [references]));
}

/** Looks up the ids of any number of bodies, in one round trip; in none where there are no ids. */
export async function findKnown({ db }: Context, all: readonly References[]): Promise<Known> {
  const named = { users: idsOf(all, 'users'), tickets: idsOf(all, 'tickets') };
  const kinds = (['users', 'tickets'] as const).filter((kind) => named[kind].length > 0);
  const statements = kinds.map((kind): Statement => ({ text: lookUp[kind], values: [db.$tenantId, named[kind]] }));
  const found = statements.length === 0 ? [] : await selectTogether(db, statements);
  const known = { users: new Set<number>(), tickets: new Set<number>() };
  for (const [index, kind] of kinds.entries()) {
    for (const { id } of (found[index] ?? []) as { id: string }[]) known[kind].add(Number(id));
  }
  return known;
}

const lookUp: Record<keyof References, string> = {
  users: 'SELECT id FROM users WHERE tenant_id = $1 AND id = ANY ($2::bigint[]) AND active',
  tickets: 'SELECT id FROM tickets WHERE tenant_id = $1 AND id = ANY ($2::bigint[])',
};

function idsOf(all: readonly References[], kind: keyof References): number[] {
  return [...new Set(all.flatMap((references) => references[kind].map(({ id }) => id)))];
}

/** @throws ApiError INVALID_REFERENCE naming each field whose id is not known */
export function refuseUnknown({ users, tickets }: References, known: Known): void {
  const details = [...unknownOf(users, known.users, noSuchUser), ...unknownOf(tickets, known.tickets, noSuchTicket)];
  const [first] = details;
  if (first === undefined) return;
  throw new ApiError('INVALID_REFERENCE', `${first.path} ${first.message}`, { details: details.slice(0, 20) });
}

function unknownOf(references: readonly Reference[], known: ReadonlySet<number>, message: string): ErrorDetail[] {
  return references.filter(({ id }) => !known.has(id)).map(({ path }) => ({ path, message }));
}
