import * as z from 'zod';
import type { NounName } from '../../administration/index.ts';
import type { NounDeclaration } from '../../administration/noun.ts';
import { allFields, type DescribedColumn, describeColumns, nameRow } from '../../administration/noun-columns.ts';
import { fieldsOf, keyOf, keyShape, type RequestField, toRequest } from '../../administration/noun-fields.ts';
import type { CsvExport } from '../../resources/csv/csv-export.ts';
import { activeTenantContext, tenantContext } from '../../resources/tenants/queries.ts';
import type { Action } from '../lib/command.ts';
import { exportAction } from '../lib/export.ts';
import { shell } from '../lib/help.ts';
import { importAction } from '../lib/import.ts';
import { firstOf, Limit, listContext } from '../lib/listing.ts';
import { type Cell, type Output, statusLabel } from '../lib/output.ts';
import { action } from '../lib/run-command.ts';
import { TrueOrFalse, updateInput } from '../lib/update.ts';

type Row = Record<string, unknown>;

interface NounOptions {
  /** The name of the command. */
  name: NounName;
  /** The names of fields by the names of their options, such as `memberIds` by `members`. */
  optionNames: ReadonlyMap<string, string>;
}

/** Returns the actions of a noun that administrators manage. */
export async function nounActions(
  noun: NounDeclaration,
  { name, optionNames }: NounOptions,
): Promise<Partial<Record<string, Action>>> {
  const { schemas, order, isShort = false, search, filters = [], table, card = allFields(noun) } = noun;
  const operations = await noun.load();
  const { list, get, create, update, rows, csv, converters = {} } = operations;
  const fields = fieldsOf(noun).filter((field) => field.name !== 'active');
  const inCreate = fields.filter(({ isInCreate }) => isInCreate);
  const inUpdate = fields.filter(({ isInUpdate }) => isInUpdate);
  const Named = { tenant: z.string(), ...keyShape(noun) };
  const typed = (field: RequestField) =>
    converters[field.name]?.schema ?? (field.isBoolean ? TrueOrFalse : field.schema);
  const rename = ([option, value]: [string, unknown]) => [optionNames.get(option) ?? option, value];
  const withFieldNames = <Schema extends z.ZodType>(schema: Schema) =>
    z.preprocess((given: object) => Object.fromEntries(Object.entries(given).map(rename)), schema);
  const nameOf = (row: Row) => `${noun.shortOne ?? noun.one} ${nameRow(noun, row)}`;
  const describe = (row: Row) => {
    const status =
      'active' in row ? ` is ${row.active === true ? 'active' : 'inactive'}` : `, has status ${row.status}`;
    return `The ${nameOf(row)}${status}.`;
  };

  const setActive = (verb: 'activate' | 'deactivate') =>
    action({
      input: z.strictObject(Named),
      work: async (runtime, { tenant, ...key }) => {
        const context = await tenantContext(runtime, tenant);
        const patch = noun.activation?.(await get(context, key), verb) ?? { active: verb === 'activate' };
        return update(context, key, patch);
      },
      format: describe,
    });

  return {
    list: action({
      input: z.strictObject({
        tenant: z.string(),
        limit: isShort ? Limit.default(100) : Limit,
        q: search === undefined ? z.undefined().optional() : schemas.query.shape.q,
        ...toShape(
          fields.filter((field) => filters.includes(field.name)),
          ({ schema }) => schema.optional(),
        ),
      }),
      work: async (runtime, { tenant, limit, q, ...given }) => {
        const context = await listContext(runtime, tenant, q);
        const values = Object.entries(given).map(([name, value]) => [name, value === undefined ? undefined : [value]]);
        return firstOf(limit, (page) => list(context, { ...Object.fromEntries(values), q, ...page }));
      },
      format: (found, output) => {
        const columns = describeColumns(table);
        const titles = columns.map(({ title }) => title.toUpperCase());
        return output.table(
          titles,
          found.map((row) => columns.map((column) => toCell(column, row, output))),
        );
      },
      hint: (found, { limit }) => {
        const first = order === 'newest first' ? 'newest' : 'first';
        return isShort || found.length < limit ? undefined : `Showing the ${first} ${limit}. Use --limit to show more.`;
      },
    }),
    show: action({
      input: z.strictObject(Named),
      work: async (runtime, { tenant, ...key }) => get(await tenantContext(runtime, tenant), key),
      format: (row, output) => {
        const lines = describeColumns(card).flatMap((column) =>
          column.style === 'entries'
            ? Object.entries(column.cell(row) ?? {}).map(([name, value]) => [name, String(value)])
            : [[column.title.toLowerCase(), toCell(column, row, output)]],
        );
        return output.card(Object.fromEntries(lines));
      },
    }),
    create: action({
      input: withFieldNames(
        z.strictObject({
          tenant: z.string(),
          ...toShape(inCreate, (field) => (field.isRequired ? typed(field) : typed(field).optional())),
        }),
      ),
      work: async (runtime, { tenant, ...input }) => {
        const context = await activeTenantContext(runtime, tenant);
        return create(context, await toRequest(operations, context, input));
      },
      format: (row) => {
        const [imperative = ''] = (noun.verbs?.create?.summary ?? 'Create').split(' ');
        return `${imperative}d the ${nameOf(row)}${noun.outcome?.(row, 'create') ?? ''}.`;
      },
      next: (row, { tenant }) => {
        const verb = noun.next?.(row);
        return verb === undefined ? [] : [`${name} ${verb} ${shell`${String(row.id)} --tenant ${tenant}`}`];
      },
    }),
    update: action({
      input: withFieldNames(
        updateInput(
          Named,
          toShape(inUpdate, (field) => (field.isNullable ? typed(field).nullish() : typed(field).optional())),
        ),
      ),
      work: async (runtime, { tenant, ...input }) => {
        const context = await tenantContext(runtime, String(tenant));
        const given = Object.entries(input).filter(([name]) => !noun.key.includes(name));
        return update(context, keyOf(noun, input), await toRequest(operations, context, Object.fromEntries(given)));
      },
      format: (row) =>
        'active' in row ? `Updated the ${nameOf(row)}${noun.outcome?.(row, 'update') ?? ''}.` : describe(row),
    }),
    activate: setActive('activate'),
    deactivate: setActive('deactivate'),
    ...(csv && { import: csv(importAction) }),
    ...(rows && {
      export: exportAction(
        rows,
        csv?.((format): CsvExport => format),
      ),
    }),
  };
}

function toShape(fields: readonly RequestField[], toSchema: (field: RequestField) => z.ZodType) {
  return Object.fromEntries(fields.map((field) => [field.name, toSchema(field)]));
}

function toCell({ style, cell }: DescribedColumn, row: Row, { time }: Output): Cell {
  const value = cell(row);
  if (value === null || value === undefined) return null;
  if (style === 'time') return time(String(value));
  if (style === 'status') return statusLabel(String(value));
  return Array.isArray(value) ? value.join(',') : String(value);
}
