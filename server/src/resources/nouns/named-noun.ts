import type { PageQuery } from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { createUnique } from '../../database/client/unique-violation.ts';
import { lockRow } from '../../database/row-lock.ts';
import { requireRow, takenBy } from '../../shared/errors.ts';
import type { Versioned } from '../../shared/etag.ts';
import { type AuditTarget, auditChanges, recordAudit } from '../audit/audit-entry.ts';
import { type Context, type Transaction, transaction } from '../shared/context.ts';
import { anyOfActive, type Page, readPage } from '../shared/lists.ts';
import { toNameKey } from '../shared/name-key.ts';
import { changeVersioned } from '../shared/versioned-change.ts';
import { rowsOf } from '../sync/change-feed.ts';

interface NamedRow extends Versioned {
  id: number;
  name: string;
}

interface NewRow {
  name: string;
}

/** The functions of a Prisma model that read and write the rows of a noun. */
interface Model<Stored> {
  count(args: object): Promise<number>;
  findMany(args: object): Promise<Stored[]>;
  create(args: object): Promise<{ id: bigint }>;
  updateMany(args: object): Promise<unknown>;
}

type Patch<New> = Partial<New> & { active?: boolean | undefined };

/** Rows of another table that belong to a row, such as the members of a team. */
interface Parts<Row, New> {
  /** Checks the parts in a request. @throws ApiError INVALID_REFERENCE */
  check(context: Context, input: Partial<New>, before?: Row): Promise<void>;
  /** Returns the row after a change, with its parts in the order of responses. */
  merge(before: Row, patch: Patch<New>): Row;
  /** Writes the parts of a new or changed row. */
  write(context: Context & Transaction, id: number, parts: { before?: Row; after: New | Row }): Promise<void>;
}

interface NamedNoun<Stored, Row, New> {
  table: Parameters<typeof lockRow>[1];
  one: AuditTarget['type'];
  model: Uncapitalize<Prisma.ModelName>;
  /** The rows of other tables that `model` also returns. */
  include?: object;
  /** The fields that requests set, except for the name. Their columns have the same names. */
  columns: readonly (keyof Row & keyof Stored & string)[];
  parts?: Parts<Row, New>;
  /** The fields whose values the audit log stores, and the fields of which it stores only that they changed. */
  audited: Record<'values' | 'names', readonly (keyof Row & string)[]>;
  /** Serializes a row for API responses. */
  present(row: Stored): Row;
}

/**
 * Returns the functions that read and write a noun. Its rows have a unique name, and are inactive instead of deleted
 * (CONTRIBUTING.md, "Let administrators write a resource").
 */
export function namedNoun<Stored, Row extends NamedRow, New extends NewRow & Partial<Row>>({
  table,
  one,
  model: modelName,
  include,
  columns,
  parts,
  audited,
  present,
}: NamedNoun<Stored, Row, New>) {
  // Each model has other types, which TypeScript can't compare.
  const model = (db: TenantClient) => db[modelName] as unknown as Model<Stored>;
  const toColumns = (row: Partial<Row> & NewRow) => ({
    // Prisma rejects undefined values.
    ...Object.fromEntries(columns.filter((name) => row[name] !== undefined).map((name) => [name, row[name]])),
    ...{ name: row.name, nameKey: toNameKey(row.name) },
  });
  const find = (db: TenantClient, page: object) => model(db).findMany({ ...page, ...(include && { include }) });

  /** Returns a page of rows, newest first (spec §4). */
  const list = ({ db }: Context, query: PageQuery & { active?: boolean[] | undefined }): Promise<Page<Row>> => {
    const where = anyOfActive(query.active);
    return readPage(query, {
      count: () => model(db).count({ where }),
      find: async (range) => (await find(db, { where, orderBy: { id: 'desc' }, ...range })).map(present),
    });
  };

  /** Returns one row. @throws ApiError NOT_FOUND */
  const get = async ({ db }: Pick<Context, 'db'>, id: number): Promise<Row> => {
    return present(requireRow((await find(db, { where: { id } }))[0], one));
  };

  /** Creates an active row. @throws ApiError INVALID_REFERENCE, or VALIDATION_ERROR if another row has the same name */
  const create = (context: Context, input: New): Promise<Row> =>
    transaction(context, async (context) => {
      await parts?.check(context, input);
      const insert = () => model(context.db).create({ data: toColumns(input) });
      const id = Number((await createUnique('name', takenBy(one, input.name), insert)).id);
      await parts?.write(context, id, { after: input });
      const row = await get(context, id);
      const changes = auditChanges({}, row, audited.values);
      await recordAudit(context, { action: `${one}.created`, target: { type: one, id }, changes });
      return row;
    });

  /**
   * Updates a row. If the patch changes nothing, `updatedAt` stays the same.
   * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, INVALID_REFERENCE, or VALIDATION_ERROR if another row has the same
   * name
   */
  const update = (context: Context, id: number, patch: Patch<New>): Promise<Row> =>
    changeVersioned<Row>(context, {
      lock: ({ db }) => lockRow(db, table, id),
      read: (context) => get(context, id),
      merge: (before) => parts?.merge(before, patch) ?? { ...before, ...patch },
      write: async (context, { before, after }) => {
        await parts?.check(context, patch, before);
        // A change of the parts alone also updates the row, so that it gets a new version.
        const data = { ...toColumns(after), updatedAt: new Date() };
        const write = () => model(context.db).updateMany({ where: { id }, data });
        await createUnique('name', takenBy(one, after.name), write);
        await parts?.write(context, id, { before, after });
        const changes = auditChanges(before, after, audited.values, audited.names);
        await recordAudit(context, { action: `${one}.updated`, target: { type: one, id }, changes });
        return get(context, id);
      },
    });

  /** Functions that read rows for incremental sync and exports. */
  return { list, get, create, update, rows: rowsOf(table, find, present) };
}
