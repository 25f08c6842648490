import type { NewTicket, TicketPatch } from '@itsm-api/contract';
import type { Ticket as Columns } from '../../../generated/prisma/client.ts';
import { identifier, join, type Sql, sql } from '../../database/client/sql.ts';
import { toColumn } from '../../database/column-name.ts';
import { type WrittenColumns, writtenColumns } from '../shared/written-columns.ts';

/** A statement that writes tickets. */
type Write = 'INSERT' | 'UPDATE';

/** The columns of `tickets` that the API returns: their SQL types, and the statements in which a request sets them. */
const ticketColumns = {
  id: column(sql`bigint`),
  type: column(sql`text`, 'INSERT'),
  number: column(sql`integer`),
  title: column(sql`text`, 'INSERT', 'UPDATE'),
  description: column(sql`text`, 'INSERT', 'UPDATE'),
  status: column(sql`text`, 'INSERT', 'UPDATE'),
  priority: column(sql`text`, 'INSERT', 'UPDATE'),
  category: column(sql`text`, 'INSERT', 'UPDATE'),
  categoryConfigId: column(sql`text`, 'INSERT', 'UPDATE'),
  formKey: column(sql`text`, 'INSERT'),
  requesterId: column(sql`bigint`, 'INSERT'),
  assigneeId: column(sql`bigint`, 'INSERT', 'UPDATE'),
  teamId: column(sql`bigint`, 'INSERT', 'UPDATE'),
  parentId: column(sql`bigint`, 'INSERT', 'UPDATE'),
  externalId: column(sql`text`, 'INSERT', 'UPDATE'),
  watcherUserIds: column(sql`bigint[]`, 'INSERT', 'UPDATE'),
  assetIds: column(sql`bigint[]`, 'INSERT', 'UPDATE'),
  tags: column(sql`text[]`, 'INSERT', 'UPDATE'),
  customFields: column(sql`jsonb`, 'INSERT', 'UPDATE'),
  resolution: column(sql`text`, 'UPDATE'),
  resolvedAt: column(sql`timestamptz`, 'INSERT', 'UPDATE'),
  closedAt: column(sql`timestamptz`, 'INSERT', 'UPDATE'),
  // The statements compute these dates (due-date.ts).
  dueAt: column(sql`timestamptz`),
  firstResponseDueAt: column(sql`timestamptz`),
  plannedStartAt: column(sql`timestamptz`, 'INSERT', 'UPDATE'),
  plannedEndAt: column(sql`timestamptz`, 'INSERT', 'UPDATE'),
  approvalStatus: column(sql`text`, 'UPDATE'),
  dueAtSet: column(sql`boolean`, 'INSERT', 'UPDATE'),
  firstRespondedAt: column(sql`timestamptz`),
  redactedAt: column(sql`timestamptz`),
  commentCount: column(sql`integer`),
  attachmentCount: column(sql`integer`, 'UPDATE'),
  linkCount: column(sql`integer`, 'UPDATE'),
  version: column(sql`integer`),
  createdAt: column(sql`timestamptz`, 'INSERT'),
  updatedAt: column(sql`timestamptz`, 'INSERT'),
} satisfies Record<Exclude<keyof Columns, UnreadColumn>, { type: Sql; writes: readonly Write[] }> &
  Written<NewTicket, readonly ['INSERT', ...Write[]]> &
  Written<TicketPatch, readonly [...Write[], 'UPDATE']>;

/** The columns that responses don't need. */
export type UnreadColumn = 'tenantId' | 'ordinal' | 'imported' | 'pausedSince' | 'pausedOpenTime';

/** The columns for the fields of a request. Otherwise, a request could set a field that no statement stores. */
type Written<Input, Writes> = { [Name in keyof Input & Exclude<keyof Columns, 'dueAt'>]: { writes: Writes } };

function column<const Writes extends readonly Write[]>(type: Sql, ...writes: Writes) {
  return { type, writes };
}

type ColumnName = keyof typeof ticketColumns;

/** The names of the columns that a request sets in an INSERT or an UPDATE. */
export type WrittenBy<Statement extends Write> = {
  [Name in ColumnName]: Statement extends (typeof ticketColumns)[Name]['writes'][number] ? Name : never;
}[ColumnName];

/** The names of the values in `ticketValues`. */
export const ticketColumnNames: readonly ColumnName[] = namesOf();

/**
 * The SQL for a JSON array with the values of all columns. The table `tickets` must have the alias `t`. An object with
 * names would take PostgreSQL half as much time again for a list of tickets.
 */
export const ticketValues = sql`json_build_array(${join(
  ticketColumnNames.map((name) => identifier(`t.${columnOf(name)}`)),
)})`;

/** Returns the parts of a statement for all columns that a request sets in it. */
export function columnsOf(write: Write): WrittenColumns {
  const written = namesOf().filter((name) => (ticketColumns[name].writes as readonly Write[]).includes(write));
  const types = Object.fromEntries(written.map((name) => [name, ticketColumns[name].type]));
  return writtenColumns(types, (name) => columnOf(name as ColumnName));
}

/** Returns the name of a column in `tickets`. */
function columnOf(name: ColumnName): string {
  return name === 'watcherUserIds' ? 'watcher_ids' : toColumn(name);
}

function namesOf(): ColumnName[] {
  return Object.keys(ticketColumns) as ColumnName[];
}
