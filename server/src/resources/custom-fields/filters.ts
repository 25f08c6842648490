import { type CustomFieldDefinition, type CustomFieldResource, integerFromText } from '@itsm-api/contract';
import { identifier, sql } from '../../database/client/sql.ts';
import { type None, one } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { validationError } from '../../shared/validation.ts';

const UserId = integerFromText();

/** A list filter by a custom field. A row matches if the field has one of the values, as text. */
export interface FieldFilter {
  key: string;
  values: string[];
}

/**
 * Returns the list filters by custom fields of a request. If the request has none, returns undefined, and doesn't query
 * the database.
 * @throws ApiError VALIDATION_ERROR if a field has no filter, its filter isn't ready, or a value can't match
 */
export async function findFieldFilters(
  db: TenantClient,
  resource: CustomFieldResource,
  given: Readonly<Record<string, string[]>> | undefined,
): Promise<FieldFilter[] | undefined> {
  if (given === undefined) return undefined;
  const definitions = await db.customFieldDefinition.findMany({
    where: { resource, filterable: true },
    orderBy: { key: 'asc' },
  });
  const filters = Object.entries(given).map(([key, values]) => ({ key, values }));
  const details = await Promise.all(
    filters.map(async ({ key, values }) => {
      const definition = definitions.find((each) => each.key === key);
      if (definition === undefined) return { key, message: describeUnknown(key, definitions) };
      if (!definition.backfilled) return { key, message: await describeProgress(db, definition) };
      return { key, message: findWrongValue(definition, values) };
    }),
  );
  const problems = details.flatMap(({ key, message = '' }) =>
    message ? { path: `customFields[${key}]`, message } : [],
  );
  if (problems.length > 0) throw validationError(problems);
  return filters;
}

/** Describes a parameter without a filter. The key contains the additional brackets of `customFields[site][]`. */
function describeUnknown(key: string, filterable: { key: string }[]): string {
  const names = filterable.map((definition) => `customFields[${definition.key}]`);
  const named = `customFields[${key.split('][')[0]}]`;
  if (names.includes(named)) return `is not a filterable custom field. Did you mean \`${named}\`?`;
  return `is not a filterable custom field. ${names.length > 0 ? `Use one of: ${names.join(', ')}.` : 'This workspace has none.'}`;
}

/** Describes how many rows the job has already copied (filter-backfill.ts). */
async function describeProgress(
  db: TenantClient,
  { resource, backfilledTo }: { resource: CustomFieldResource; backfilledTo: bigint | null },
): Promise<string> {
  const { first, last } = (await db.$sql(selectRange[resource])) ?? { first: 0, last: 0 };
  const share = (Number(backfilledTo ?? 0) - first) / Math.max(1, last - first);
  const percent = Math.max(0, Math.min(99, Math.floor(100 * share)));
  return `is not ready yet: the server has read ${percent} % of the stored values. Try again in a minute.`;
}

const defineRange = (table: string) =>
  one<None, { first: number; last: number }>(
    ({ tenant }) => sql`SELECT coalesce(min(id), 0) AS first, coalesce(max(id), 0) AS last
      FROM ${identifier(table)} WHERE tenant_id = ${tenant}`,
  );
const selectRange = { TICKET: defineRange('tickets'), ASSET: defineRange('assets') };

/** Returns the validation message if one of the values can't match any value that fits the definition. */
function findWrongValue(
  { type, options }: Pick<CustomFieldDefinition, 'type' | 'options'>,
  values: readonly string[],
): string | undefined {
  if (type === 'USER')
    return values.every((value) => UserId.safeParse(value).success) ? undefined : 'must be the id of a user';
  const known = options?.map(({ value }) => value) ?? ['true', 'false'];
  return values.every((value) => known.includes(value)) ? undefined : `must be one of: ${known.join(', ')}`;
}
