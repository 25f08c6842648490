import { type CustomFieldResource, type CustomFieldType, integerFromText } from '@itsm-api/contract';
import { identifier, sql, tenant } from '../../database/client/sql.ts';
import { manyAsJson, type None, oneAsJson } from '../../database/client/statements.ts';
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
  const definitions = await db.$sql(selectFilterable, { resource, keys: Object.keys(given) });
  const filters = Object.entries(given).map(([key, values]) => ({ key, values }));
  const details = await Promise.all(
    filters.map(async ({ key, values }) => {
      const definition = definitions.find((each) => each.key === key);
      if (definition === undefined) return { key, message: describeUnknown(key, definitions) };
      if (!definition.backfilled) return { key, message: await describeProgress(db, resource, definition) };
      return { key, message: findWrongValue(definition, values) };
    }),
  );
  const problems = details.flatMap(({ key, message = '' }) =>
    message ? { path: `customFields[${key}]`, message } : [],
  );
  if (problems.length > 0) throw validationError(problems);
  return filters;
}

interface FilterableField {
  key: string;
  type: CustomFieldType;
  backfilled: boolean;
  backfilledTo: number | null;
  /** The values of all options. Null for a field that the request doesn't name, or whose type has no options. */
  values: string[] | null;
}

/** Reads the filterable fields of a resource, and the options of the fields with the given keys. */
const selectFilterable = manyAsJson<{ resource: CustomFieldResource; keys: readonly string[] }, FilterableField>(
  ({ resource, keys }) => sql`SELECT key, type, backfilled, backfilled_to AS "backfilledTo",
      CASE WHEN key = ANY (${keys}::text[]) THEN jsonb_path_query_array(options, '$[*].value') END AS values
    FROM custom_field_definitions WHERE tenant_id = ${tenant} AND resource = ${resource} AND filterable ORDER BY key`,
);

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
  resource: CustomFieldResource,
  { backfilledTo }: Pick<FilterableField, 'backfilledTo'>,
): Promise<string> {
  const { first, last } = (await db.$sql(selectRange[resource])) ?? { first: 0, last: 0 };
  const share = ((backfilledTo ?? 0) - first) / Math.max(1, last - first);
  const percent = Math.max(0, Math.min(99, Math.floor(100 * share)));
  return `is not ready yet: the server has read ${percent} % of the stored values. Try again in a minute.`;
}

const defineRange = (table: string) =>
  oneAsJson<None, { first: number; last: number }>(
    () => sql`SELECT coalesce(min(id), 0) AS first, coalesce(max(id), 0) AS last
      FROM ${identifier(table)} WHERE tenant_id = ${tenant}`,
  );
const selectRange = { TICKET: defineRange('tickets'), ASSET: defineRange('assets') };

/** Returns the validation message if one of the values can't match any value that fits the definition. */
function findWrongValue({ type, values: options }: FilterableField, values: readonly string[]): string | undefined {
  if (type === 'USER')
    return values.every((value) => UserId.safeParse(value).success) ? undefined : 'must be the id of a user';
  const known = options ?? ['true', 'false'];
  return values.every((value) => known.includes(value)) ? undefined : `must be one of: ${known.join(', ')}`;
}
