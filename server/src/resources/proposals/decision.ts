import { isDeepStrictEqual } from 'node:util';
import {
  NewProposal,
  type Proposal,
  type ProposalDecision,
  type ProposalOperation,
  type ProposalResult,
} from '@itsm-api/contract';
import { json } from '../../database/client/json-column.ts';
import { withSavepoint } from '../../database/client/transaction.ts';
import { ApiError } from '../../shared/errors.ts';
import { requireMatch } from '../../shared/etag.ts';
import { detailsOf, unknownField, validationError } from '../../shared/validation.ts';
import { recordAudit } from '../audit/audit-entry.ts';
import { type Context, type Transaction, transaction } from '../shared/context.ts';
import { findSameKeys } from '../shared/proposal-withdrawal.ts';
import { type Evaluation, evaluate } from './evaluation.ts';
import { lockTargets, type TargetRow } from './operations.ts';
import {
  endProposal,
  findProposal,
  lockProposal,
  type ProposalRow,
  presentProposal,
  type Rights,
  requirePending,
  requireScope,
  scopeOf,
} from './queries.ts';

/** The context of a person who decides, with an API key or in the developer area. */
type DecidingContext = Context & { userId: bigint };

/**
 * Records the decision of a person. Accepting a proposal runs its request in the same transaction. If the request
 * changes anything else than the preview shows, or fails, the proposal becomes STALE instead
 * (docs/decisions/proposals-design.md). Repeating a decision changes nothing, with any `If-Match`.
 * @param rights the rights of the API key; undefined in the developer area
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, INSUFFICIENT_SCOPE, or VALIDATION_ERROR if the proposal has ended
 */
export function decideProposal(
  context: DecidingContext,
  id: number,
  { decision, note = null }: ProposalDecision,
  rights?: Rights,
): Promise<Proposal> {
  return transaction(context, async (context) => {
    const { userId, ifMatch, now } = context;
    const found = await findProposal(context, id, rights);
    await checkRights(context, found, rights);
    const request = decision === 'ACCEPTED' && found.body !== null ? parseStored(found) : undefined;
    // Locks the targets before the proposal, as a redaction does. Otherwise, transactions could deadlock.
    const targets = request === undefined || request instanceof ApiError ? [] : await lockTargets(context, request);
    const row = await lockProposal(context, id);
    const current = presentProposal(row, now());
    if (current.status === decision) return current;
    requireMatch(ifMatch, current);
    requirePending(current);
    const outcome = request === undefined ? { status: decision } : await accept(context, row, request, targets);
    const decided = await endProposal(context, id, { ...outcome, note, decidedById: userId });
    const { status, proposedById, keyId } = decided;
    await recordAudit(context, {
      action: 'proposal.decided',
      target: { type: 'proposal', id },
      changes: {
        status: { from: 'PENDING', to: status },
        ...{ proposedById: { from: null, to: proposedById }, keyId: { from: null, to: keyId } },
      },
    });
    return decided;
  });
}

/** @throws ApiError INSUFFICIENT_SCOPE */
async function checkRights(
  { db, userId }: DecidingContext,
  { operation }: ProposalRow,
  rights: Rights | undefined,
): Promise<void> {
  if (rights === undefined) return;
  requireScope(rights, operation, 'write');
  const isPerson = !rights.isProposing && (await db.user.count({ where: { id: userId, kind: 'PERSON' } })) > 0;
  if (isPerson) return;
  const message =
    'Only a person can decide about proposals. Use an API key of a person that may do more than propose, or decide in ' +
    'the developer area.';
  throw new ApiError('INSUFFICIENT_SCOPE', message);
}

/** Parses the stored request with the current schema. Returns the error if it is no longer valid. */
function parseStored({ operation, params, body, reason, ifMatch }: ProposalRow): NewProposal | ApiError {
  const hasParams = Object.keys(params).length > 0;
  const given = { operation, ...(hasParams && { params }), body, reason, ...(ifMatch !== null && { ifMatch }) };
  const parsed = NewProposal.safeParse(given);
  if (!parsed.success) return validationError(detailsOf(parsed.error.issues, unknownField));
  return parsed.data;
}

/** Runs the request of a locked proposal. Keeps its changes only if they are those of the preview. */
async function accept(
  context: DecidingContext & Transaction,
  { operation, preview, proposedById, keyId }: ProposalRow,
  request: NewProposal | ApiError,
  targets: readonly TargetRow[],
) {
  const actions: (() => unknown)[] = [];
  const proposer = {
    ...{ ...context, userId: proposedById, keyId, acceptedById: context.userId },
    afterCommit: (action: () => unknown) => actions.push(action),
  };
  const isUnchanged = (evaluation: Evaluation) => isDeepStrictEqual(evaluation.preview, preview);
  try {
    if (request instanceof ApiError) throw request;
    await checkProposer(context, operation, keyId);
    const evaluation = await withSavepoint(() => evaluate(proposer, request, targets), isUnchanged);
    if (!isUnchanged(evaluation)) return toStale({ preview: evaluation.preview, error: null });
    for (const action of actions) context.afterCommit(action);
    return { status: 'ACCEPTED', createdId: evaluation.createdId && BigInt(evaluation.createdId) } as const;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const { code, message, details } = error;
    return toStale({ preview: null, error: { code, message, ...(details && { details: [...details] }) } });
  }
}

/** Checks that the API key that proposed a request hasn't lost the scope of the operation. @throws ApiError */
async function checkProposer({ db }: Context, operation: ProposalOperation, keyId: bigint): Promise<void> {
  const scope = scopeOf(operation, 'write');
  const ids = await findSameKeys(db, keyId);
  if ((await db.apiKey.count({ where: { id: { in: ids }, revokedAt: null, scopes: { has: scope } } })) > 0) return;
  throw new ApiError('INSUFFICIENT_SCOPE', `The API key that proposed the request no longer has the scope ${scope}.`);
}

function toStale(result: ProposalResult) {
  return { status: 'STALE', result: json(result) } as const;
}
