import {
  type CustomFieldDefinition,
  type CustomFieldDefinitionPatch,
  type CustomFieldOption,
  type CustomFieldQuery,
  canFilter,
  hasOptions,
  maxCustomFieldDefinitions,
  maxCustomFieldOptions,
  maxFilterableFields,
  maxWorkspaceOptions,
  type NewCustomFieldDefinition,
} from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { dbNull, json } from '../../database/client/json-column.ts';
import { sql, tenant } from '../../database/client/sql.ts';
import { type None, oneAsJson } from '../../database/client/statements.ts';
import { createUnique } from '../../database/client/unique-violation.ts';
import { lockTenant } from '../../database/row-lock.ts';
import { invalidField, notFound, takenBy } from '../../shared/errors.ts';
import { withEtag } from '../../shared/etag.ts';
import { serializeTimestamps } from '../../shared/serialize.ts';
import { type AuditChanges, auditChanges, recordAudit } from '../audit/audit-entry.ts';
import { type Context, transaction } from '../shared/context.ts';
import { anyOf, type Page, readPage } from '../shared/lists.ts';
import { changeVersioned } from '../shared/versioned-change.ts';

type Reference = Pick<CustomFieldDefinition, 'resource' | 'key'>;

/** Returns a page of definitions, in the order of their resources and keys. */
export function listCustomFieldDefinitions(
  { db }: Pick<Context, 'db'>,
  query: CustomFieldQuery,
): Promise<Page<CustomFieldDefinition>> {
  const where = anyOf('resource', query.resource);
  return readPage(query, {
    count: () => db.customFieldDefinition.count({ where }),
    // `orderBy` is set if the page is nearer to the end of the list.
    find: async ({ orderBy, ...range }) => {
      const direction = orderBy === undefined ? 'asc' : 'desc';
      const order = [{ resource: direction }, { key: direction }] as const;
      return (await db.customFieldDefinition.findMany({ where, orderBy: [...order], ...range })).map(
        presentCustomFieldDefinition,
      );
    },
  });
}

/** Returns one definition. @throws ApiError NOT_FOUND */
export async function getCustomFieldDefinition(
  { db }: Pick<Context, 'db'>,
  { resource, key }: Reference,
): Promise<CustomFieldDefinition> {
  const row = await db.customFieldDefinition.findFirst({ where: { resource, key } });
  if (row === null) throw notFound('custom field', 'resource and key');
  return presentCustomFieldDefinition(row);
}

/**
 * Creates an active definition. Changes no stored value.
 * @throws ApiError VALIDATION_ERROR if the field is already defined, the options don't match the type, there are too
 * many definitions or options, or the field can't become filterable
 */
export function createCustomFieldDefinition(
  context: Context,
  input: NewCustomFieldDefinition,
): Promise<CustomFieldDefinition> {
  const { resource, key, type, label, description = null, required = false, filterable = false } = input;
  return transaction(context, async (context) => {
    const { db } = context;
    await lockTenant(db, 'customFields');
    if ((await db.customFieldDefinition.count({ where: { resource } })) >= maxCustomFieldDefinitions) {
      const message = `can't have more than ${maxCustomFieldDefinitions} definitions, including inactive ones`;
      throw invalidField('VALIDATION_ERROR', 'resource', message);
    }
    const options = mergeOptions({ type, options: null }, input.options);
    await checkOptionCount(context, options, null);
    await checkFilterable(context, { ...input, filterable });
    const data = { resource, key, type, label, description, required, filterable, options: stored(options) };
    await createUnique('key', takenBy('custom field', key), () => db.customFieldDefinition.create({ data }));
    const created = await getCustomFieldDefinition(context, { resource, key });
    await recordAudit(context, { action: 'field.created', ...auditOf(undefined, created) });
    return created;
  });
}

/**
 * Updates a definition. Changes no stored value. If the patch changes nothing, `updatedAt` stays the same.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, or VALIDATION_ERROR if the options don't match the type, there are
 * too many options, or the field can't become filterable
 */
export function updateCustomFieldDefinition(
  context: Context,
  reference: Reference,
  patch: CustomFieldDefinitionPatch,
): Promise<CustomFieldDefinition> {
  const { resource, key } = reference;
  return changeVersioned(context, {
    lock: ({ db }) => lockTenant(db, 'customFields'),
    read: (context) => getCustomFieldDefinition(context, reference),
    merge: (before) => ({ ...before, ...patch, options: mergeOptions(before, patch.options) }),
    write: async (context, { before, after }) => {
      const { label, description, required, filterable, active, options } = after;
      await checkOptionCount(context, options, before.options);
      const isFiltered = filterable !== before.filterable;
      if (isFiltered) await checkFilterable(context, after);
      const { customFieldDefinition } = context.db;
      await customFieldDefinition.updateMany({
        where: { resource, key },
        data: { label, description, required, filterable, active, options: stored(options) },
      });
      // A separate statement, because a trigger doesn't increment the version if these columns change.
      if (isFiltered) await customFieldDefinition.updateMany({ where: { resource, key }, data: startBackfill });
      await recordAudit(context, { action: 'field.updated', ...auditOf(before, after) });
      return getCustomFieldDefinition(context, reference);
    },
  });
}

/** The start of the job that copies or deletes the values of older rows (filter-backfill.ts). */
const startBackfill = { backfilled: false, backfilledTo: 0n };

/** Checks that a field can become filterable, if it does. @throws ApiError VALIDATION_ERROR */
async function checkFilterable(
  { db }: Context,
  { resource, key, type, filterable }: Pick<CustomFieldDefinition, 'resource' | 'key' | 'type' | 'filterable'>,
): Promise<void> {
  if (!filterable) return;
  const reject = (message: string) => {
    throw invalidField('VALIDATION_ERROR', 'filterable', message);
  };
  if (!canFilter(type)) reject('must be false, unless the type is SELECT, MULTI_SELECT, BOOLEAN or USER');
  const others = { resource, filterable: true, key: { not: key } };
  if ((await db.customFieldDefinition.count({ where: others })) >= maxFilterableFields) {
    reject(`can't be true for more than ${maxFilterableFields} fields of a resource`);
  }
  const cleared = { resource, key, filterable: false, backfilledTo: { not: null } };
  if ((await db.customFieldDefinition.count({ where: cleared })) > 0) {
    reject('was true until recently, and the server is still deleting the filter. Try again in a minute.');
  }
}

/**
 * Returns the options of a definition after a write: the given options, and the other existing ones, which become
 * inactive.
 * @throws ApiError VALIDATION_ERROR
 */
function mergeOptions(
  { type, options }: Pick<CustomFieldDefinition, 'type' | 'options'>,
  given: NewCustomFieldDefinition['options'],
): CustomFieldOption[] | null {
  if (!hasOptions(type)) {
    if (given === undefined || given.length === 0) return null;
    throw invalidField('VALIDATION_ERROR', 'options', 'must be empty, unless the type is SELECT or MULTI_SELECT');
  }
  if (given === undefined && options !== null) return options;
  const values = new Set(given?.map(({ value }) => value));
  if (given === undefined || given.length === 0) {
    throw invalidField('VALIDATION_ERROR', 'options', 'must contain at least one option');
  }
  if (values.size < given.length) {
    throw invalidField('VALIDATION_ERROR', 'options', 'must have different values');
  }
  const omitted = (options ?? []).filter(({ value }) => !values.has(value));
  const merged = [
    ...given.map((option) => ({ ...option, active: true })),
    ...omitted.map((option) => ({ ...option, active: false })),
  ];
  if (merged.length <= maxCustomFieldOptions) return merged;
  const message = `can't have more than ${maxCustomFieldOptions} options, including inactive ones`;
  throw invalidField('VALIDATION_ERROR', 'options', message);
}

/**
 * Checks that a write adds no options to a workspace that then has too many. Other writes succeed in a workspace that has
 * too many options from an earlier release.
 * @throws ApiError VALIDATION_ERROR
 */
async function checkOptionCount(
  { db }: Context,
  after: CustomFieldOption[] | null,
  before: CustomFieldOption[] | null,
): Promise<void> {
  const added = (after?.length ?? 0) - (before?.length ?? 0);
  if (added <= 0) return;
  const { count = 0 } = (await db.$sql(countOptions)) ?? {};
  if (count + added <= maxWorkspaceOptions) return;
  const message =
    `exceed the limit: all custom fields of a workspace can have ${maxWorkspaceOptions} options in total, including ` +
    'inactive ones. Use fewer options, or a field of the type TEXT.';
  throw invalidField('VALIDATION_ERROR', 'options', message);
}

const countOptions = oneAsJson<None, { count: number }>(
  () => sql`SELECT coalesce(sum(jsonb_array_length(options)), 0) AS count
    FROM custom_field_definitions WHERE tenant_id = ${tenant}`,
);

/** Converts options to the value of the JSON column. */
function stored(options: CustomFieldOption[] | null) {
  return options === null ? dbNull : json(options);
}

/**
 * Returns the target and the changes of an audit entry. A definition has no id, so the name of the change contains its
 * resource and key.
 */
function auditOf(before: CustomFieldDefinition | undefined, after: CustomFieldDefinition) {
  const rulesOf = ({ type, required, filterable, active, options }: CustomFieldDefinition) => ({
    ...{ type, required, filterable, active },
    ...(options !== null && { options: options.map(({ value, active }) => ({ value, active })) }),
  });
  const name = `${after.resource}.${after.key}`;
  const changes: AuditChanges = auditChanges(
    before === undefined ? {} : { [name]: rulesOf(before) },
    { [name]: rulesOf(after) },
    [name],
  );
  // If only the texts for people changed, the entry has no values.
  return { target: { type: 'field' as const }, changes: { [name]: changes[name] ?? null } };
}

/** Serializes a definition for API responses. */
function presentCustomFieldDefinition(row: Prisma.CustomFieldDefinitionGetPayload<object>): CustomFieldDefinition {
  return withEtag(row.version, {
    key: row.key,
    resource: row.resource,
    type: row.type,
    label: row.label,
    description: row.description,
    options: row.options,
    required: row.required,
    filterable: row.filterable,
    active: row.active,
    nonconforming: row.nonconforming,
    ...serializeTimestamps(row),
  });
}
