import { identifier, sql, tenant } from '../../database/client/sql.ts';
import { rows } from '../../database/client/statements.ts';
import { tenantLockStatement } from '../../database/row-lock.ts';
import { ApiError, invalidField } from '../../shared/errors.ts';
import type { Context } from './context.ts';

/*
 * Checks external ids (docs/decisions/external-ids.md). Each transaction that writes external ids first acquires the
 * tenant's lock for the resource. Therefore, the check sees the external ids of all earlier transactions, and the unique
 * index never rejects a write.
 */

/** The resources that have an external id. */
type Resource = 'ticket' | 'comment' | 'asset';

/** Maps external ids to the ids of the rows that have them. */
export type ExternalIds = Map<string, number>;

/**
 * Locks the tenant's external ids of a resource until the end of the transaction. Returns the given external ids that
 * rows already have. If no external id is given, doesn't query the database.
 */
export async function lockExternalIds(
  { db }: Context,
  resource: Resource,
  given: readonly (string | null | undefined)[],
): Promise<ExternalIds> {
  const externalIds = given.filter((externalId) => externalId != null);
  if (externalIds.length === 0) return new Map();
  const [, found] = await db.$pipeline([
    tenantLockStatement(db, `${resource}ExternalIds`),
    db.$bind(selectTaken[resource], { externalIds }),
  ]);
  return new Map(found.map(({ externalId, id }) => [externalId, Number(id)]));
}

const defineTaken = (table: string) =>
  rows<{ externalIds: string[] }, { externalId: string; id: bigint }>(
    ({ externalIds }) => sql`SELECT external_id AS "externalId", id FROM ${identifier(table)}
      WHERE tenant_id = ${tenant} AND external_id = ANY (${externalIds}::text[])`,
  );
const selectTaken = {
  ticket: defineTaken('tickets'),
  comment: defineTaken('comments'),
  asset: defineTaken('assets'),
};

/**
 * Checks that no row has the external id.
 * @param taken the external ids from `lockExternalIds`
 * @throws ApiError EXTERNAL_ID_EXISTS; the details contain the id of the existing row
 */
export function rejectTaken(
  resource: Resource,
  taken: ExternalIds,
  externalId: string | null | undefined,
  path = 'externalId',
): void {
  const id = externalId == null ? undefined : taken.get(externalId);
  if (id === undefined) return;
  const message = `is already used by another ${resource}. Use that ${resource}, or choose a different value.`;
  throw new ApiError('EXTERNAL_ID_EXISTS', `${path} ${message}`, { details: [{ path, message, id }] });
}

/** Adds the external ids of new rows to `taken`. */
export function addExternalIds(taken: ExternalIds, rows: readonly { id: number; externalId: string | null }[]): void {
  for (const { id, externalId } of rows) if (externalId !== null) taken.set(externalId, id);
}

/** Removes each item of a bulk request that has an external id of an earlier item. */
export function withoutRepeated<Item>(
  items: readonly Item[],
  externalIdsOf: (item: Item) => readonly (string | null | undefined)[],
): Item[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const externalIds = externalIdsOf(item).filter((externalId) => externalId != null);
    if (externalIds.some((externalId) => seen.has(externalId))) return false;
    for (const externalId of externalIds) seen.add(externalId);
    return true;
  });
}

/** Locks the tenant's external ids of a resource, and checks that no row has the external id. @throws ApiError */
export async function lockExternalId(
  context: Context,
  resource: Resource,
  externalId: string | null | undefined,
): Promise<void> {
  rejectTaken(resource, await lockExternalIds(context, resource, [externalId]), externalId);
}

/**
 * Returns the external id after an update. An external id can be set only once.
 * @throws ApiError VALIDATION_ERROR
 */
export function mergeExternalId(before: string | null, given: string | null | undefined): string | null {
  if (given === undefined || given === before) return before;
  if (before === null) return given;
  throw invalidField('VALIDATION_ERROR', 'externalId', 'can be set only once, and it is already set. Omit it.');
}
