import type { NewProposal, ProposalPreview, ProposalTarget } from '@itsm-api/contract';
import { ApiError } from '../../shared/errors.ts';
import type { Transaction, UserContext } from '../shared/context.ts';
import { diffFields } from '../shared/diff.ts';
import { belowPath, type Row, runRequest, type TargetRow } from './operations.ts';

/** What a request has changed. */
export interface Evaluation {
  preview: ProposalPreview[];
  target: ProposalTarget | null;
  /** The id of the new row. Null for an update and an upsert. */
  createdId: number | null;
}

/** The fields that the server sets, whose values differ each time that a request runs. */
const ownFields = new Set([
  ...['id', 'ticketNumber', 'etag', 'commentCount', 'attachmentCount', 'linkCount', 'createdAt', 'updatedAt'],
  ...['resolvedAt', 'closedAt', 'completedAt', 'firstRespondedAt', 'redactedAt'],
]);

/** The fields that the server computes from the current time, unless the request sets them. */
const computedFields = ['dueAt', 'firstResponseDueAt'];

/**
 * Runs a request in the open transaction, and compares the rows before and after.
 * @param context the context of the user and the API key that proposed the request
 * @param targets the locked targets of the request
 * @throws ApiError the error that the endpoint would return, with paths below `body`
 */
export async function evaluate(
  context: UserContext & Transaction,
  request: NewProposal,
  targets: readonly TargetRow[],
): Promise<Evaluation> {
  const ifMatch = getIfMatch(request);
  const own = { isImport: false, overridesChangePolicy: false, ifMatch: ifMatch === null ? undefined : [ifMatch] };
  const written = await runRequest({ ...context, ...own }, request).catch((error: unknown) => {
    throw error instanceof ApiError ? belowPath(error, 'body.') : error;
  });
  const isUpsert = request.operation === 'assets_upsertMany';
  const [only] = isUpsert ? [] : targets;
  const previews = written.map(({ row, isNew }): ProposalPreview => {
    const found = isUpsert && !isNew ? targets.find((each) => each.row.id === row.id) : only;
    return {
      // Another request can have created the asset after the lock. Without its id, it would look like a new one.
      target: found?.target ?? (isUpsert && !isNew ? (`ASSET:${row.id}` as const) : null),
      status: found === undefined ? null : String(found.row.status),
      changes: compare(isNew ? undefined : found?.row, row, request.body),
    };
  });
  const [first] = written;
  return {
    // The stored form of the preview, so that two previews can be compared.
    preview: JSON.parse(JSON.stringify(previews)),
    target: only?.target ?? null,
    createdId: !isUpsert && first?.isNew ? first.row.id : null,
  };
}

/** Returns the ETag that the target of a request must have, or null. */
export function getIfMatch(request: NewProposal): string | null {
  return ('ifMatch' in request ? request.ifMatch : undefined) ?? null;
}

/** Returns the changed fields, or the fields of a new row that have a value. */
function compare(before: Row | undefined, after: Row, body: object): ProposalPreview['changes'] {
  const isShown = (name: string) => !ownFields.has(name) && (!computedFields.includes(name) || name in body);
  const hasValue = (value: unknown) =>
    value !== null && (typeof value !== 'object' || Object.keys(value as object).length > 0);
  const changes = Object.entries(diffFields(before ?? ({} as Row), after)).filter(
    ([name, { to }]) => isShown(name) && (before !== undefined || hasValue(to)),
  );
  return Object.fromEntries(changes.map(([name, { from = null, to }]) => [name, { from, to }]));
}
