import type { Ticket as Columns } from '../../../generated/prisma/client.ts';
import { toColumn } from '../../database/column-name.ts';

/** A statement that writes tickets. */
type Write = 'INSERT' | 'UPDATE';

/** The columns of `tickets` that the API returns: their SQL types, and the statements in which a request sets them. */
const ticketColumns = {
  id: column('bigint'),
  type: column('text', 'INSERT'),
  number: column('integer'),
  title: column('text', 'INSERT', 'UPDATE'),
  description: column('text', 'INSERT', 'UPDATE'),
  status: column('text', 'INSERT', 'UPDATE'),
  priority: column('text', 'INSERT', 'UPDATE'),
  category: column('text', 'INSERT', 'UPDATE'),
  categoryConfigId: column('text', 'INSERT', 'UPDATE'),
  requesterId: column('bigint', 'INSERT'),
  assigneeId: column('bigint', 'INSERT', 'UPDATE'),
  parentId: column('bigint', 'INSERT', 'UPDATE'),
  externalId: column('text', 'INSERT', 'UPDATE'),
  assetIds: column('bigint[]', 'INSERT', 'UPDATE'),
  customFields: column('jsonb', 'INSERT', 'UPDATE'),
  resolution: column('text', 'UPDATE'),
  resolvedAt: column('timestamptz', 'INSERT', 'UPDATE'),
  closedAt: column('timestamptz', 'INSERT', 'UPDATE'),
  // The statements compute `due_at` (due-date.ts).
  dueAt: column('timestamptz'),
  dueAtSet: column('boolean', 'INSERT', 'UPDATE'),
  firstRespondedAt: column('timestamptz'),
  redactedAt: column('timestamptz'),
  commentCount: column('integer'),
  attachmentCount: column('integer', 'UPDATE'),
  linkCount: column('integer', 'UPDATE'),
  version: column('integer'),
  createdAt: column('timestamptz', 'INSERT'),
  updatedAt: column('timestamptz', 'INSERT'),
} satisfies Record<Exclude<keyof Columns, 'tenantId' | 'ordinal'>, { type: string; writes: readonly Write[] }>;

function column<const Writes extends readonly Write[]>(type: string, ...writes: Writes) {
  return { type, writes };
}

type ColumnName = keyof typeof ticketColumns;

/** The names of the columns that a request sets in an INSERT or an UPDATE. */
export type WrittenBy<Statement extends Write> = {
  [Name in ColumnName]: Statement extends (typeof ticketColumns)[Name]['writes'][number] ? Name : never;
}[ColumnName];

/** The SQL for all columns of a `TicketRow` except the watchers. The table `tickets` must have the alias `t`. */
export const ownColumns = namesOf()
  .map((name) => `t.${toColumn(name)} AS "${name}"`)
  .join(', ');

/** The parts of a statement that writes tickets from a JSON recordset. The table function has the alias `given`. */
export interface WrittenColumns {
  /** The column definitions of the recordset. */
  definitions: string;
  /** The names of the columns in `tickets`. */
  targets: string;
  /** The columns of the recordset, in the order of `targets`. */
  values: string;
  /** The assignments of an UPDATE. */
  assignments: string;
}

/** Builds the parts of a statement for all columns that a request sets in it. */
export function columnsOf(write: Write): WrittenColumns {
  const names = namesOf().filter((name) => (ticketColumns[name].writes as readonly Write[]).includes(write));
  const list = (format: (name: ColumnName) => string) => names.map(format).join(', ');
  return {
    definitions: list((name) => `"${name}" ${ticketColumns[name].type}`),
    targets: list(toColumn),
    values: list((name) => `given."${name}"`),
    assignments: list((name) => `${toColumn(name)} = given."${name}"`),
  };
}

function namesOf(): ColumnName[] {
  return Object.keys(ticketColumns) as ColumnName[];
}
