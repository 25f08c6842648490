import type {
  Actor,
  Attachment,
  Changes,
  Comment,
  CustomFields,
  ErrorCode,
  EventComment,
  Link,
} from '@itsm-api/contract';

/* Models the common properties of all rows (docs/decisions/api-conventions.md, data-model.md, tickets.md). */

/** The state of a row in the model. */
export interface State<Row> {
  row: Row;
  /** Recent ETags of earlier states. No later state has one of these ETags. */
  formerTags: readonly string[];
  /** The changes to the row in chronological order. */
  mutations: readonly Mutation<Row>[];
  /** The comments on a ticket in chronological order. */
  comments: readonly Comment[];
  /** The links of a ticket in chronological order, in both directions. */
  links: readonly Link[];
  /** The attachments of a ticket in chronological order. */
  attachments: readonly Attachment[];
}

/** A change to a row, as activities and events describe it. */
export interface Mutation<Row> {
  action: 'CREATED' | 'UPDATED' | 'COMMENTED';
  actor: Actor;
  changes: Changes;
  /** True if the change has no event, because the comment was created together with its ticket. */
  isSilent?: boolean;
  /** The new comment, if the change is a comment. */
  comment?: EventComment;
  after: Row;
  /** The change took effect between the positions `begin` and `end` in the run's sequence of requests and responses. */
  begin: number;
  end: number;
}

/** The result of a change: the new row, or the possible error codes. */
export type Outcome<Row> = { row: Row } | { codes: ErrorCode[] };

/** Returns the differences between two states of a row, in the format that events use. */
export function changesBetween<Row extends object>(before: Row, after: Row): Changes {
  const names = (Object.keys(after) as (keyof Row & string)[]).filter(
    (name) => name !== 'updatedAt' && name !== 'etag' && !isSame(before[name], after[name]),
  );
  return Object.fromEntries(names.map((name) => [name, { from: before[name], to: after[name] }]));
}

/** Merges custom fields. A value replaces the existing value, and null removes the field. */
export function mergeFields(fields: CustomFields, patch: CustomFields = {}): CustomFields {
  return Object.fromEntries(Object.entries({ ...fields, ...patch }).filter(([name]) => patch[name] !== null));
}

/**
 * Returns changes in the format that activities use. Omits custom fields with equal values.
 */
export function keptChanges(changes: Changes): Changes {
  const { customFields } = changes;
  if (customFields === undefined) return changes;
  const [from, to] = [customFields.from as CustomFields, customFields.to as CustomFields];
  const differs = ([name]: [string, unknown]) => !isSame(from[name], to[name]);
  const differing = (fields: CustomFields) => Object.fromEntries(Object.entries(fields).filter(differs));
  return { ...changes, customFields: { from: differing(from), to: differing(to) } };
}

/** Returns true if two JSON values are equal. The order of fields doesn't matter. */
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
