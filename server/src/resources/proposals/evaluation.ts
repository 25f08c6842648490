import { isDeepStrictEqual } from 'node:util';
import {
  type NewProposal,
  type ProposalOperation,
  type ProposalPreview,
  type ProposalTarget,
  proposable,
} from '@itsm-api/contract';
import { ApiError } from '../../shared/errors.ts';
import type { Transaction, UserContext } from '../shared/context.ts';
import { diffFields } from '../shared/diff.ts';
import { belowPath, checkResponse, operationOf, type Row, type TargetRow } from './operations.ts';

/** A request as proposals store it: with ids instead of email addresses and ticket numbers. */
export interface ProposedRequest {
  operation: ProposalOperation;
  params: Record<string, unknown>;
  body: Record<string, unknown>;
  ifMatch: string | null;
}

/** Returns the request of a proposal. Wrappers have replaced email addresses and ticket numbers with ids. */
export function toRequest(input: NewProposal): ProposedRequest {
  const { operation, body } = input;
  const params = 'params' in input ? input.params : {};
  return { operation, params, body, ifMatch: ('ifMatch' in input ? input.ifMatch : undefined) ?? null };
}

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
 * @throws ApiError the error that the endpoint would return
 */
export async function evaluate(
  context: UserContext & Transaction,
  { operation, params, body, ifMatch }: ProposedRequest,
  targets: readonly TargetRow[],
): Promise<Evaluation> {
  const { run, toWritten } = operationOf(operation);
  const proposed = {
    ...{ ...context, isImport: false, overridesChangePolicy: false },
    ifMatch: ifMatch === null ? undefined : [ifMatch],
  };
  const written = await run(proposed, params, body)
    .then((data) => toWritten(checkResponse(proposable[operation], data)))
    .catch((error: unknown) => {
      throw error instanceof ApiError ? belowPath(error, 'body.') : error;
    });
  const [first] = written;
  const [only] = targets;
  const isUpsert = operation === 'assets_upsertMany';
  const previews = written.map(({ row, isNew }): ProposalPreview => {
    const found = isUpsert ? targets.find((each) => !isNew && each.row.id === row.id) : only;
    const before = isNew ? {} : (found?.row ?? {});
    return {
      target: found?.target ?? null,
      status: found === undefined ? null : String(found.row.status),
      changes: compare(before, row, body),
    };
  });
  return {
    // The stored form of the preview, so that two previews can be compared.
    preview: JSON.parse(JSON.stringify(previews)),
    target: isUpsert ? null : (only?.target ?? null),
    createdId: !isUpsert && first?.isNew ? first.row.id : null,
  };
}

/** Returns true if two previews show the same changes of targets with the same status. */
export function isSame(preview: readonly ProposalPreview[], other: readonly ProposalPreview[]): boolean {
  return isDeepStrictEqual(preview, other);
}

function compare(before: Partial<Row>, after: Row, body: object): ProposalPreview['changes'] {
  const isShown = (name: string) => !ownFields.has(name) && (!computedFields.includes(name) || name in body);
  const isNew = Object.keys(before).length === 0;
  const changes = Object.entries(diffFields(before as Row, after)).filter(
    ([name, { to }]) => isShown(name) && !(isNew && isEmpty(to)),
  );
  return Object.fromEntries(changes.map(([name, { from = null, to }]) => [name, { from, to }]));
}

/** Returns true for the value of a field without a value: null, an empty list or an empty object. */
function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}
