import {
  Approval,
  Article,
  Asset,
  AssetActivity,
  Attachment,
  CategoryConfig,
  Comment,
  CustomFieldDefinition,
  CustomFields,
  Link,
  Project,
  requestLimits,
  Task,
  Team,
  Ticket,
  TicketActivity,
  User,
  Webhook,
} from '@itsm-api/contract';
import pg from 'pg';
import * as z from 'zod';
import { toNameKey } from '../shared/name-key.ts';
import { ResolutionTargets } from '../tickets/due-date.ts';
import type { Manifest } from './tenant-folder.ts';
import type { TenantColumn, TenantTable } from './tenant-rows.ts';

/*
 * The rules for the values of an export (docs/decisions/tenant-transfer.md). They come from the contract and from the
 * constraints of the database. Only columns that neither of them limits have limits here.
 */

const Json = z.string().refine((text) => {
  try {
    return JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}, 'must be JSON');

function activityOf<Resource extends string>(
  resource: Resource,
  { shape }: typeof TicketActivity | typeof AssetActivity,
) {
  return z.object({ resource: z.literal(resource), action: shape.action, changes: shape.changes });
}

/** The schemas of the rows. Most are the schemas of responses: the API couldn't return a row with other values. */
const schemas: Record<string, z.ZodObject | z.ZodDiscriminatedUnion> = {
  activities: z.discriminatedUnion('resource', [
    activityOf('TICKET', TicketActivity),
    activityOf('ASSET', AssetActivity),
  ]),
  approvals: Approval,
  // The API returns no drafts.
  articles: Article.omit({ status: true }),
  assets: Asset.extend({ customFields: CustomFields }),
  attachments: Attachment.extend({
    // Other characters are invalid in the header of a download.
    contentType: z.string().regex(/^[\x20-\x7e]{1,255}$/, 'must have at most 255 printable ASCII characters'),
    sha256: z.string().regex(/^[\da-f]{64}$/, 'must be a SHA-256 hash'),
  }),
  comments: Comment,
  custom_field_definitions: CustomFieldDefinition,
  events: z.object({ body: Json }),
  idempotency_keys: z.object({ answer: Json }),
  projects: Project,
  tasks: Task,
  teams: Team,
  ticket_categories: CategoryConfig,
  ticket_links: Link,
  ticket_sequences: z.object({ resolutionTargets: ResolutionTargets.partial().nullable() }),
  tickets: Ticket.extend({ customFields: CustomFields }),
  users: User,
  webhook_subscriptions: Webhook,
};

/** The columns that only the length of the line limits. */
const unlimited = ['csv_uploads.content', 'csv_uploads.preview', 'events.body', 'idempotency_keys.answer'];

/** The maximum number of bytes of other texts, of texts in an index (B-tree entries have at most 2704 bytes), and of JSON. */
const [maxBytes, maxIndexedBytes, maxJsonBytes] = [16_384, 2600, 2 ** 20];

/** Returns the schema of a table and, for each of its fields that is a column, the name of the column and its SQL. */
function fieldsOf({ name, columns }: TenantTable) {
  const schema = schemas[name];
  const { shape } =
    schema instanceof z.ZodDiscriminatedUnion ? (schema.options[0] as z.ZodObject) : (schema ?? z.object());
  const fields = Object.entries(shape).flatMap(([field, type]) => {
    const column = columns.find((each) => each.name === columnOf(field));
    return column === undefined ? [] : [{ field, type, column: column.name, value: buildValue(column) }];
  });
  return { schema, fields };
}

/** Returns the name of the column of a field, such as `asset_ids` for `assetIds`. */
export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Builds SQL for a value as the API returns it. */
function buildValue({ name, type }: TenantColumn): string {
  if (type.startsWith('timestamp')) return `to_char("${name}" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  return type.startsWith('numeric') ? `"${name}"::text` : `"${name}"`;
}

/** Returns the schema of the rows of a table, and SQL for the JSON object to validate. */
export function schemaOf(table: TenantTable): { schema: z.ZodType; row: string } | undefined {
  const { schema, fields } = fieldsOf(table);
  if (schema === undefined) return undefined;
  return {
    schema:
      schema instanceof z.ZodObject
        ? z.object(Object.fromEntries(fields.map(({ field, type }) => [field, type])))
        : schema,
    row: `json_build_object(${fields.map(({ field, value }) => `'${field}', ${value}`)})`,
  };
}

/** A condition for a row, in SQL. If the condition is null, the row is valid, as in a CHECK constraint. */
export interface Rule {
  columns: string[];
  condition: string;
  problem: string;
}

/** Returns the rules of a table that SQL checks. */
export function rulesOf(table: TenantTable, { tenant, lastIds }: Manifest): Rule[] {
  const { name, owner, columns, sequence, checks } = table;
  const lastId = lastIds[name] ?? 0;
  const { fields } = fieldsOf(table);
  const ofColumn = (column: TenantColumn): Omit<Rule, 'columns'>[] => {
    const isLimited =
      fields.some((each) => each.column === column.name) || unlimited.includes(`${name}.${column.name}`);
    const max = isLimited ? Number.POSITIVE_INFINITY : column.isIndexed ? maxIndexedBytes : maxBytes;
    return [
      ...(column.isRequired ? [{ condition: `"${column.name}" IS NOT NULL`, problem: 'must not be null' }] : []),
      ...limitsOf(column.type, `"${column.name}"`, max),
      ...(column.name === owner
        ? [{ condition: `"${owner}" = ${tenant.id}`, problem: "isn't the id of the tenant" }]
        : []),
      ...(column.name === 'id' && sequence !== null && name !== 'tenants'
        ? [{ condition: `"id" BETWEEN 1 AND ${lastId}`, problem: `must be from 1 to ${lastId}` }]
        : []),
    ];
  };
  return [
    ...columns.flatMap((column) => ofColumn(column).map((rule) => ({ columns: [column.name], ...rule }))),
    ...(name === 'tenants'
      ? [
          {
            columns: ['name'],
            condition: `"name" = ${pg.escapeLiteral(tenant.name)}`,
            problem: "isn't the name in manifest.json",
          },
          {
            columns: ['name_key'],
            condition: `"name_key" = ${pg.escapeLiteral(toNameKey(tenant.name))}`,
            problem: "doesn't match the name",
          },
        ]
      : []),
    ...checks.map(({ columns, condition }) => ({
      columns,
      condition,
      problem: `must meet the condition ${condition}`,
    })),
  ];
}

/** Returns the limits of a type. @param value SQL for the value */
function limitsOf(type: string, value: string, max: number): Omit<Rule, 'columns'>[] {
  if (type.endsWith('[]')) {
    return limitsOf(type.slice(0, -2), 'element', max).map(({ condition, problem }) => ({
      condition: `coalesce(array_dims(${value}) ~ '^\\[1:\\d{1,3}\\]$', true)
        AND NOT EXISTS (SELECT FROM unnest(${value}) AS element WHERE (${condition}) IS NOT TRUE)`,
      problem: `must be a list of at most 999 values, each of which ${problem}`,
    }));
  }
  const between = (min: number, max: number) => [
    { condition: `${value} BETWEEN ${min} AND ${max}`, problem: `must be from ${min} to ${max}` },
  ];
  if (type === 'bigint') return between(0, Number.MAX_SAFE_INTEGER);
  // The server increases some of these numbers, such as versions.
  if (type === 'integer' || type === 'smallint') return between(0, 2_000_000_000);
  if (type === 'date' || type.startsWith('timestamp')) {
    const condition = `${value} >= '0001-01-01' AND ${value} < '10000-01-01'`;
    return [{ condition, problem: 'must have a year from 1 to 9999' }];
  }
  if (type === 'jsonb') {
    const { jsonDepth } = requestLimits;
    const condition = `octet_length(${value}::text) <= ${maxJsonBytes}
      AND NOT jsonb_path_exists(${value}, 'strict $.**{${jsonDepth}}')`;
    return [{ condition, problem: `must have at most ${maxJsonBytes} bytes and ${jsonDepth} nested levels` }];
  }
  if ((type === 'text' || type === 'bytea') && max < Number.POSITIVE_INFINITY) {
    return [{ condition: `octet_length(${value}) <= ${max}`, problem: `must have at most ${max} bytes` }];
  }
  return [];
}

/** A rule for the rows of several tables. */
export interface Relation {
  table: string;
  columns: string[];
  /** Builds SQL for the lines of invalid rows. `of` returns the name of the temporary table with the rows of a table. */
  lines: (of: (table: string) => string) => string;
  problem: string;
}

/** The rules that triggers, new tickets and deletions of attachments depend on, and that no constraint contains. */
export const moreRelations: Relation[] = [
  ...['id', 'storage_key'].map((column) => ({
    table: 'deleted_attachments',
    columns: [column],
    lines: (of: (table: string) => string) =>
      `SELECT d.line FROM ${of('deleted_attachments')} d JOIN ${of('attachments')} a ON a."${column}" = d."${column}"`,
    problem: 'belongs to an attachment in attachments.jsonl, which is not deleted',
  })),
  ...[
    { column: 'asset_ids', table: 'assets' },
    { column: 'watcher_ids', table: 'users' },
  ].map(({ column, table }) => ({
    table: 'tickets',
    columns: [column],
    lines: (
      of: (table: string) => string,
    ) => `SELECT t.line FROM ${of('tickets')} t CROSS JOIN unnest(${column}) AS a (id)
      LEFT JOIN ${of(table)} s ON s.id = a.id WHERE s.id IS NULL`,
    problem: `refers to a row that ${table}.jsonl doesn't contain`,
  })),
  {
    table: 'tickets',
    columns: ['ordinal', 'number'],
    lines: (of) => `SELECT t.line FROM ${of('tickets')} t LEFT JOIN ${of('ticket_sequences')} s ON true
      WHERE ordinal NOT BETWEEN 1 AND coalesce(total, 0) OR number NOT BETWEEN 1 AND coalesce(CASE type
        WHEN 'INCIDENT' THEN incident WHEN 'PROBLEM' THEN problem WHEN 'CHANGE' THEN change ELSE service_request END, 0)`,
    problem: 'must be from 1 to the last number in ticket_sequences.jsonl',
  },
  {
    table: 'ticket_sequences',
    columns: ['total'],
    lines: (of) => `SELECT line FROM ${of('ticket_sequences')} WHERE total <> (SELECT count(*) FROM ${of('tickets')})`,
    problem: 'must be the number of tickets',
  },
];

/** Returns the rules of the unique indexes and the foreign keys of a table, and of the order of its rows. */
export function relationsOf({ name, owner, order, uniques, foreignKeys }: TenantTable): Relation[] {
  const own = (columns: string[]) => columns.filter((column) => column !== owner || columns.length === 1);
  const filled = (columns: string[]) => columns.map((column) => `s."${column}" IS NOT NULL`).join(' AND ');
  return [
    ...uniques.map(({ columns, condition }) => ({
      table: name,
      columns: own(columns),
      lines: (of: (table: string) => string) => `SELECT line FROM (
          SELECT line, row_number() OVER (PARTITION BY ${columns.map((column) => `"${column}"`)} ORDER BY line) AS place
          FROM ${of(name)} s WHERE ${filled(columns)} AND ${condition ?? 'true'}) AS rows WHERE place > 1`,
      problem: 'has the same values as an earlier line',
    })),
    // The other unique indexes contain the tenant. The import reports an existing name of a tenant later.
    ...uniques
      .filter(({ columns }) => name !== 'tenants' && !columns.includes(owner))
      .map(({ columns }) => ({
        table: name,
        columns,
        lines: (of: (table: string) => string) => `SELECT line FROM ${of(name)} s JOIN "${name}" o
          ON ${columns.map((column) => `o."${column}" = s."${column}"`).join(' AND ')} AND o."${owner}" <> s."${owner}"`,
        problem: 'is already in use in this installation',
      })),
    {
      table: name,
      columns: [],
      lines: (of) => `SELECT line FROM (
        SELECT line, lag(line) OVER (ORDER BY ${order}) AS previous FROM ${of(name)}) AS rows WHERE previous > line`,
      problem: "isn't in the order of the primary key",
    },
    ...foreignKeys.map(({ columns, table, keys }) => ({
      table: name,
      columns: own(columns),
      lines: (
        of: (table: string) => string,
      ) => `SELECT line FROM ${of(name)} s WHERE ${filled(columns)} AND NOT EXISTS (
        SELECT FROM ${of(table)} o
        WHERE ${columns.map((column, index) => `o."${keys[index]}" = s."${column}"`).join(' AND ')})`,
      problem: `refers to a row that ${table}.jsonl doesn't contain`,
    })),
  ];
}
