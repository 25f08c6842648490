import {
  maxPendingProposals,
  maxPendingProposalsOfKey,
  maxProposalBytes,
  type NewProposal,
  type Proposal,
  proposalDays,
} from '@itsm-api/contract';
import { json } from '../../database/client/json-column.ts';
import { withSavepoint } from '../../database/client/transaction.ts';
import { lockTenant } from '../../database/row-lock.ts';
import { ApiError, invalidField } from '../../shared/errors.ts';
import { transaction, type UserContext } from '../shared/context.ts';
import { findSameKeys, wherePending } from '../shared/proposal-withdrawal.ts';
import { evaluate, getIfMatch } from './evaluation.ts';
import { lockTargets } from './operations.ts';
import { presentProposal, type Rights, requireScope } from './queries.ts';

const dayMs = 86_400_000;

/**
 * Stores a proposal. Runs the request first, and undoes its changes, so that the errors are those of the request.
 * @throws ApiError the errors of the request, with paths below `body`; INSUFFICIENT_SCOPE; VALIDATION_ERROR if too many
 * proposals are pending; INVALID_API_KEY if the key was revoked during the request
 */
export function propose(context: UserContext, input: NewProposal, rights: Rights): Promise<Proposal> {
  requireScope(rights, input.operation, 'write');
  return transaction(context, async (context) => {
    const { db, now, userId, keyId } = context;
    // The targets stay locked, so that a concurrent redaction finds the stored proposal.
    const targets = await lockTargets(context, input);
    const undone = { ...context, afterCommit: () => undefined };
    const { preview, target } = await withSavepoint(
      () => evaluate(undone, input, targets),
      () => false,
    );
    checkSize(input.body, preview);
    await lockTenant(db, 'proposals');
    await checkKey(context);
    await checkCount(context);
    const { operation, body, reason } = input;
    const params = 'params' in input ? input.params : {};
    const at = now();
    const row = await db.proposal.create({
      data: {
        ...{ operation, reason, ifMatch: getIfMatch(input), target, proposedById: userId, keyId },
        ...{ params: json(params), body: json(body), preview: json(preview) },
        expiresAt: new Date(at.getTime() + proposalDays * dayMs),
      },
    });
    return presentProposal(row, at);
  });
}

/** @throws ApiError VALIDATION_ERROR */
function checkSize(body: object, preview: object): void {
  if (Buffer.byteLength(JSON.stringify([body, preview])) <= maxProposalBytes) return;
  const message = `must be smaller: with the preview, it has more than ${maxProposalBytes} bytes. Split the proposal.`;
  throw invalidField('VALIDATION_ERROR', 'body', message);
}

/** Checks that the API key and its user haven't lost their rights during the request. @throws ApiError INVALID_API_KEY */
async function checkKey({ db, keyId }: UserContext): Promise<void> {
  const found = await db.apiKey.count({ where: { id: keyId, revokedAt: null, user: { active: true } } });
  if (found === 0) throw new ApiError('INVALID_API_KEY', 'The API key was revoked. Create a new one.');
}

/** Checks that the workspace and the API key can have another pending proposal. @throws ApiError VALIDATION_ERROR */
async function checkCount({ db, now, keyId }: UserContext): Promise<void> {
  const where = wherePending(now());
  const ofWorkspace = await db.proposal.count({ where });
  const advice = 'Wait until a person decides, or withdraw some with `DELETE /proposals/{id}`.';
  if (ofWorkspace >= maxPendingProposals) {
    throw new ApiError('VALIDATION_ERROR', `This workspace has ${maxPendingProposals} pending proposals. ${advice}`);
  }
  if (ofWorkspace < maxPendingProposalsOfKey) return;
  const keyIds = await findSameKeys(db, keyId);
  if ((await db.proposal.count({ where: { ...where, keyId: { in: keyIds } } })) < maxPendingProposalsOfKey) return;
  throw new ApiError('VALIDATION_ERROR', `This API key has ${maxPendingProposalsOfKey} pending proposals. ${advice}`);
}
