import type { Actor, Changes, Comment, CustomFields, ErrorCode } from '@itsm-api/contract';

/*
 * What all rows have alike (docs/decisions/api-conventions.md, data-model.md, tickets.md).
 */

/** A row as the model has it. */
export interface State<Row> {
  row: Row;
  /** The tag of its state (docs/decisions/optimistic-concurrency.md). */
  etag: string;
  /** Tags of states before, which never come again: the last ones that are known. */
  formerTags: readonly string[];
  /** What was done to it, the first first. */
  deeds: readonly Deed<Row>[];
  /** Those on a ticket, the first first. */
  comments: readonly Comment[];
}

/** Something that was done to a row: what activity and events tell. */
export interface Deed<Row> {
  action: 'CREATED' | 'UPDATED' | 'COMMENTED';
  actor: Actor;
  changes: Changes;
  after: Row;
  /** It was done between these places of the run. */
  begin: number;
  end: number;
}

/** What comes of a change: the row afterwards, or the codes of which one is answered. */
export type Outcome<Row> = { row: Row } | { codes: ErrorCode[] };

/** What differs between two states of a row, as events tell it. */
export function changesBetween<Row extends object>(before: Row, after: Row): Changes {
  const names = (Object.keys(after) as (keyof Row & string)[]).filter(
    (name) => name !== 'updatedAt' && !isSame(before[name], after[name]),
  );
  return Object.fromEntries(names.map((name) => [name, { from: before[name], to: after[name] }]));
}

/** A key given replaces, null removes. */
export function mergeFields(fields: CustomFields, patch: CustomFields = {}): CustomFields {
  return Object.fromEntries(Object.entries({ ...fields, ...patch }).filter(([name]) => patch[name] !== null));
}

/** Of custom fields activity keeps those that differ. */
export function keptChanges(changes: Changes): Changes {
  const { customFields } = changes;
  if (customFields === undefined) return changes;
  const [from, to] = [customFields.from as CustomFields, customFields.to as CustomFields];
  const differs = ([name]: [string, unknown]) => !isSame(from[name], to[name]);
  const differing = (fields: CustomFields) => Object.fromEntries(Object.entries(fields).filter(differs));
  return { ...changes, customFields: { from: differing(from), to: differing(to) } };
}

/** Whether two JSON values are the same, whatever the order of fields. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [ofA, ofB] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const names = Object.keys(ofA);
  return names.length === Object.keys(ofB).length && names.every((name) => name in ofB && isSame(ofA[name], ofB[name]));
}

export function ascending(ids: readonly number[]): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
