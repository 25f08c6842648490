import type { ErrorDetail, TicketCategory } from '@itsm-api/contract';
import { sql, tenant } from '../../database/client/sql.ts';
import { oneAsJson } from '../../database/client/statements.ts';
import { ApiError } from '../../shared/errors.ts';
import type { Context } from './context.ts';

/** The error message for a reference to a user that doesn't exist or is inactive. */
export const noSuchUser = 'must be an active user of this workspace';

/** The error message for a reference to a ticket that doesn't exist. */
export const noSuchTicket = 'must be a ticket of this workspace';

/** The error message for a reference to an asset that doesn't exist. */
export const noSuchAsset = 'must be an asset of this workspace';

/** The error message for a reference to a team that doesn't exist or is inactive. */
const noSuchTeam = 'must be an active team of this workspace';

/** The error message for a reference to a ticket category that doesn't exist or is inactive. */
const noSuchCategory = 'must be an active ticket category of this workspace';

/** The error message for a reference to an attachment that doesn't exist or belongs to another ticket. */
export const noSuchAttachment = 'must be an attachment of this ticket';

/** An id in a request body, and the path of its field. */
interface Reference<Id = number> {
  path: string;
  id: Id;
}

/** The ids in a request body, grouped by the resource that they reference. */
export interface References {
  users: readonly Reference[];
  tickets: readonly Reference[];
  assets: readonly Reference[];
  teams: readonly Reference[];
  categories: readonly Reference<string>[];
}

/** Describes a request body without ids. */
export const noReferences: References = { users: [], tickets: [], assets: [], teams: [], categories: [] };

/** The kinds of resources whose ids are numbers. */
type NumberedKind = Exclude<keyof References, 'categories'>;

/**
 * The valid ids among the referenced ids. An id is valid if it identifies an existing ticket, an existing asset, an
 * active user or an active team of the tenant.
 */
export interface Known extends Readonly<Record<NumberedKind, ReadonlySet<number>>> {
  /**
   * The fixed category that each referenced active ticket category refines. Undefined if every id is valid, because the
   * tenant has no ticket categories (docs/decisions/ticket-categories.md).
   */
  categories: ReadonlyMap<string, TicketCategory | null> | undefined;
}

/** Returns the reference in a field as a list. The list is empty if the field is null, absent or unchanged. */
export function reference<Id extends number | string>(
  path: string,
  id: Id | null | undefined,
  before?: Id | null,
): Reference<Id>[] {
  return id == null || id === before ? [] : [{ path, id }];
}

/** Returns the references in a field with a list of ids. Omits ids that the list contained before. */
export function listed(
  path: string,
  ids: readonly number[] | null | undefined,
  before: readonly number[] = [],
): Reference[] {
  return (ids ?? []).map((id, index) => ({ path: `${path}.${index}`, id })).filter(({ id }) => !before.includes(id));
}

/** Whether inactive users are valid. Tickets and comments that an import key creates can belong to people who have left. */
interface UserOptions {
  allowInactive?: boolean | undefined;
}

/**
 * Checks that each id identifies an active user of the tenant.
 * @throws ApiError INVALID_REFERENCE; the details list up to 20 fields with invalid references
 */
export async function checkUsers(
  context: Context,
  users: readonly Reference[],
  options: UserOptions = {},
): Promise<void> {
  await checkReferences(context, { ...noReferences, users }, options);
}

/**
 * Checks that all referenced tickets and assets exist, and that all referenced users, teams and ticket categories are
 * active. Returns the valid ids.
 * @throws ApiError INVALID_REFERENCE; the details list up to 20 fields with invalid references
 */
export async function checkReferences(
  context: Context,
  references: References,
  options: UserOptions = {},
): Promise<Known> {
  const known = await findKnown(context, [references], options);
  assertKnown(references, known);
  return known;
}

/** Looks up all referenced ids in one statement. If there are no ids, doesn't query the database. */
export async function findKnown(
  { db }: Context,
  all: readonly References[],
  { allowInactive = false }: UserOptions = {},
): Promise<Known> {
  const idsOf = (kind: NumberedKind) => [...new Set(all.flatMap((each) => each[kind].map(({ id }) => id)))];
  const ids = {
    ...{ users: idsOf('users'), tickets: idsOf('tickets'), assets: idsOf('assets'), teams: idsOf('teams') },
    categories: [...new Set(all.flatMap((each) => each.categories.map(({ id }) => id)))],
  };
  const isEmpty = Object.values(ids).every((some) => some.length === 0);
  const found = isEmpty ? undefined : await db.$sql(selectKnown, { ...ids, allowInactive });
  return {
    users: new Set(found?.users),
    tickets: new Set(found?.tickets),
    assets: new Set(found?.assets),
    teams: new Set(found?.teams),
    categories: found?.categories ? new Map(found.categories) : undefined,
  };
}

type Ids = Record<NumberedKind, number[]>;

const selectKnown = oneAsJson<
  Ids & { categories: string[]; allowInactive: boolean },
  Ids & { categories: [id: string, category: TicketCategory | null][] | null }
>(
  ({ users, tickets, assets, teams, categories, allowInactive }) => sql`SELECT
    ARRAY(SELECT id FROM users
      WHERE tenant_id = ${tenant} AND id = ANY (${users}::bigint[]) AND (active OR ${allowInactive}::boolean)) AS users,
    ARRAY(SELECT id FROM tickets WHERE tenant_id = ${tenant} AND id = ANY (${tickets}::bigint[])) AS tickets,
    ARRAY(SELECT id FROM assets WHERE tenant_id = ${tenant} AND id = ANY (${assets}::bigint[])) AS assets,
    ARRAY(SELECT id FROM teams WHERE tenant_id = ${tenant} AND id = ANY (${teams}::bigint[]) AND active) AS teams,
    CASE WHEN cardinality(${categories}::text[]) > 0
        AND EXISTS (SELECT FROM ticket_categories WHERE tenant_id = ${tenant})
      THEN ARRAY(SELECT json_build_array(id, category) FROM ticket_categories
        WHERE tenant_id = ${tenant} AND id = ANY (${categories}::text[]) AND active)
    END AS categories`,
);

/**
 * Checks that all references are in `known`.
 * @throws ApiError INVALID_REFERENCE; the details list up to 20 fields with unknown ids
 */
export function assertKnown({ users, tickets, assets, teams, categories }: References, known: Known): void {
  reject([
    ...findUnknown(users, known.users, noSuchUser),
    ...findUnknown(tickets, known.tickets, noSuchTicket),
    ...findUnknown(assets, known.assets, noSuchAsset),
    ...findUnknown(teams, known.teams, noSuchTeam),
    ...(known.categories === undefined ? [] : findUnknown(categories, known.categories, noSuchCategory)),
  ]);
}

/**
 * Checks that all references of one kind are in `known`.
 * @param message the error message for an unknown id
 * @throws ApiError INVALID_REFERENCE; the details list up to 20 fields with unknown ids
 */
export function assertReferences(references: readonly Reference[], known: ReadonlySet<number>, message: string): void {
  reject(findUnknown(references, known, message));
}

/** Throws an error if there are details. */
function reject(details: ErrorDetail[]): void {
  const [first] = details;
  if (first === undefined) return;
  throw new ApiError('INVALID_REFERENCE', `${first.path} ${first.message}`, { details: details.slice(0, 20) });
}

function findUnknown<Id>(
  references: readonly Reference<Id>[],
  known: { has(id: Id): boolean },
  message: string,
): ErrorDetail[] {
  return references.filter(({ id }) => !known.has(id)).map(({ path }) => ({ path, message }));
}
