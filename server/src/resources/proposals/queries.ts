import {
  type Proposal,
  type ProposalOperation,
  type ProposalQuery,
  type ProposalStatus,
  proposable,
  type Scope,
} from '@itsm-api/contract';
import type { Proposal as Columns, Prisma } from '../../../generated/prisma/client.ts';
import { lockRow } from '../../database/row-lock.ts';
import { ApiError, requireRow } from '../../shared/errors.ts';
import { requireMatch, withEtag } from '../../shared/etag.ts';
import { serializeId, serializeTimestamp, serializeTimestamps } from '../../shared/serialize.ts';
import type { StorageFormat } from '../idempotency/idempotency.ts';
import { type Context, transaction, type UserContext } from '../shared/context.ts';
import { anyOf, type Page, readPage } from '../shared/lists.ts';
import { findSameKeys, wherePending } from '../shared/proposal-withdrawal.ts';
import type { Row } from './operations.ts';

/** The rights of an API key, as far as they concern proposals. Signed-in administrators and agents have all scopes. */
export interface Rights {
  scopes: ReadonlySet<Scope>;
  isProposing: boolean;
}

/** A row of `proposals`. */
export type ProposalRow = Columns;

/** Returns the scope that reads the resource of an operation, or that runs the operation. */
export function scopeOf(operation: ProposalOperation, access: 'read' | 'write'): Scope {
  const { scope } = proposable[operation].metadata;
  return (access === 'write' ? scope : scope?.replace(':write', ':read')) as Scope;
}

/** Checks that an API key has the scope of an operation. @throws ApiError INSUFFICIENT_SCOPE */
export function requireScope(rights: Rights | undefined, operation: ProposalOperation, access: 'read' | 'write'): void {
  const scope = scopeOf(operation, access);
  if (rights === undefined || rights.scopes.has(scope)) return;
  const message = `This API key lacks the scope ${scope} of the operation ${operation}. Use a key that has it.`;
  throw new ApiError('INSUFFICIENT_SCOPE', message);
}

/**
 * Returns a page of proposals, newest first.
 * @param rights the rights of the API key, which limit the operations; undefined for all operations
 */
export function listProposals(
  { db, now }: Context,
  { status, operation, target, proposedById, ...query }: ProposalQuery,
  rights?: Rights,
): Promise<Page<Proposal>> {
  const at = now();
  const all = Object.keys(proposable) as ProposalOperation[];
  const readable = all.filter((each) => rights === undefined || rights.scopes.has(scopeOf(each, 'read')));
  const listed = operation?.filter((each) => readable.includes(each)) ?? readable;
  const where = {
    ...(status && { OR: status.map((each) => whereStatus(each, at)) }),
    ...(operation || readable.length < all.length ? anyOf('operation', listed) : {}),
    ...anyOf('target', target),
    ...anyOf('proposedById', proposedById),
  };
  return readPage(query, {
    count: () => db.proposal.count({ where }),
    find: async (range) => {
      const rows = await db.proposal.findMany({ where, orderBy: { id: 'desc' }, ...range });
      return rows.map((row) => presentProposal(row, at));
    },
  });
}

/** Returns the condition for a status. A pending proposal has expired as soon as its time has passed. */
function whereStatus(status: ProposalStatus, at: Date): Prisma.ProposalWhereInput {
  if (status === 'PENDING') return wherePending(at);
  return status === 'EXPIRED' ? { status: { in: ['PENDING', status] }, expiresAt: { lte: at } } : { status };
}

/** Returns one proposal. @throws ApiError NOT_FOUND, INSUFFICIENT_SCOPE */
export async function getProposal(context: Context, id: number, rights?: Rights): Promise<Proposal> {
  const row = await findProposal(context, id, rights);
  requireScope(rights, row.operation, 'read');
  return presentProposal(row, context.now());
}

/**
 * Returns the row of a proposal.
 * @param rights the rights of an API key. Without a scope of the resource, the key finds only its own proposals.
 * @throws ApiError NOT_FOUND
 */
export async function findProposal(context: Context, id: number, rights?: Rights): Promise<ProposalRow> {
  const row = requireRow(await context.db.proposal.findFirst({ where: { id } }), 'proposal');
  const hasScope = (access: 'read' | 'write') => rights?.scopes.has(scopeOf(row.operation, access)) ?? true;
  const isVisible = hasScope('read') || hasScope('write') || (await isProposer(context, row));
  return requireRow(isVisible ? row : undefined, 'proposal');
}

/** Returns true if the API key of a request, or a key that it replaced by rotation, has proposed the request. */
async function isProposer({ db, keyId = 0n }: Context, row: ProposalRow): Promise<boolean> {
  return (await findSameKeys(db, keyId)).includes(row.keyId);
}

/**
 * Withdraws a pending proposal. Withdrawing it again changes nothing.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, or VALIDATION_ERROR if another API key has proposed it, or if it is no
 * longer pending
 */
export function withdrawProposal(context: UserContext, id: number, rights: Rights): Promise<Proposal> {
  return transaction(context, async (context) => {
    const row = await lockProposal(context, id, rights);
    const current = presentProposal(row, context.now());
    if (!(await isProposer(context, row))) {
      const message = 'Only the API key that proposed it can withdraw a proposal. Use that key, or decide about it.';
      throw new ApiError('VALIDATION_ERROR', message);
    }
    if (current.status === 'WITHDRAWN') return current;
    requireMatch(context.ifMatch, current);
    requirePending(current);
    return endProposal(context, id, { status: 'WITHDRAWN' });
  });
}

/** Locks a proposal, and returns its latest version. @throws ApiError NOT_FOUND */
export async function lockProposal(context: Context, id: number, rights?: Rights): Promise<ProposalRow> {
  await lockRow(context.db, 'proposals', id);
  return findProposal(context, id, rights);
}

/** Checks that a proposal is pending. @throws ApiError VALIDATION_ERROR */
export function requirePending({ status }: Proposal): void {
  if (status === 'PENDING') return;
  throw new ApiError('VALIDATION_ERROR', `This proposal is ${status}. Only a PENDING proposal can change.`);
}

/** Ends a locked proposal with a final status. */
export async function endProposal(
  { db, now }: Context,
  id: number,
  data: Prisma.ProposalUncheckedUpdateManyInput,
): Promise<Proposal> {
  const [row] = await db.proposal.updateManyAndReturn({ where: { id }, data: { ...data, endedAt: now() } });
  return presentProposal(requireRow(row, 'proposal'), now());
}

/** Stores only the id of a proposal for an `Idempotency-Key`, because a redaction can empty the proposal. */
export const proposalFormat: StorageFormat = {
  serialize: ({ id }: Proposal) => ({ id }),
  restore: (context, { id }: Row) => getProposal(context, id),
};

/** Serializes a proposal with its status at the given time. */
export function presentProposal(row: ProposalRow, at: Date): Proposal {
  const { operation, params, body, reason, ifMatch, target, preview, result, note } = row;
  const isExpired = row.status === 'PENDING' && row.expiresAt <= at;
  const expiresAt = serializeTimestamp(row.expiresAt);
  return withEtag(
    row.version,
    {
      // The order of the contract, because a replayed response isn't validated, and must equal the first one.
      ...{ id: serializeId(row.id), operation, params, body, reason, ifMatch },
      status: isExpired ? 'EXPIRED' : row.status,
      ...{ target, preview, result, createdId: serializeId(row.createdId), note },
      proposedById: serializeId(row.proposedById),
      keyId: serializeId(row.keyId),
      decidedById: serializeId(row.decidedById),
      expiresAt,
      endedAt: isExpired ? expiresAt : serializeTimestamp(row.endedAt),
      ...serializeTimestamps(row),
    },
    // The status changes without a write.
    [isExpired ? expiresAt : null],
  );
}
