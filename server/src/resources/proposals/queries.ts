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
import { findSameKeys } from '../shared/proposal-withdrawal.ts';
import type { Row } from './operations.ts';

/** The rights of an API key, as far as they concern proposals. Signed-in administrators and agents have all scopes. */
export interface Rights {
  scopes: ReadonlySet<Scope>;
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
    ...(status && whereStatus(status, at)),
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

/** The stored statuses of proposals whose time has passed. */
const ended: ProposalStatus[] = ['PENDING', 'EXPIRED'];

/** Returns the condition for statuses. A pending proposal has expired as soon as its time has passed. */
function whereStatus(statuses: readonly ProposalStatus[], at: Date): Prisma.ProposalWhereInput {
  const stored = statuses.filter((status) => status !== 'PENDING' && status !== 'EXPIRED');
  const conditions: Prisma.ProposalWhereInput[] = [
    ...(stored.length > 0 ? [{ status: { in: stored } }] : []),
    ...(statuses.includes('PENDING') ? [wherePending(at)] : []),
    ...(statuses.includes('EXPIRED') ? [{ status: { in: ended }, expiresAt: { lte: at } }] : []),
  ];
  return conditions.length === 1 ? (conditions[0] ?? {}) : { OR: conditions };
}

/** Returns the condition for pending proposals that have not expired. */
export function wherePending(at: Date) {
  return { status: 'PENDING', expiresAt: { gt: at } } as const;
}

/** Returns one proposal. @throws ApiError NOT_FOUND, INSUFFICIENT_SCOPE */
export async function getProposal(context: Context, id: number, rights?: Rights): Promise<Proposal> {
  const row = await findProposal(context, id);
  requireScope(rights, row.operation, 'read');
  return presentProposal(row, context.now());
}

/** Returns the row of a proposal. @throws ApiError NOT_FOUND */
export async function findProposal({ db }: Context, id: number): Promise<ProposalRow> {
  return requireRow(await db.proposal.findFirst({ where: { id } }), 'proposal');
}

/**
 * Withdraws a pending proposal. Withdrawing it again changes nothing.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, or VALIDATION_ERROR if another API key has proposed it, or if it is no
 * longer pending
 */
export function withdrawProposal(context: UserContext, id: number): Promise<Proposal> {
  return transaction(context, async (context) => {
    const { db, keyId, now, ifMatch } = context;
    const row = await lockProposal(context, id);
    const current = presentProposal(row, now());
    if (!(await findSameKeys(db, keyId)).includes(row.keyId)) {
      const message = 'Only the API key that proposed it can withdraw a proposal. Use that key, or decide about it.';
      throw new ApiError('VALIDATION_ERROR', message);
    }
    if (current.status === 'WITHDRAWN') return current;
    requireMatch(ifMatch, current);
    requirePending(current);
    return endProposal(context, id, { status: 'WITHDRAWN' });
  });
}

/** Locks a proposal, and returns its latest version. @throws ApiError NOT_FOUND */
export async function lockProposal(context: Context, id: number): Promise<ProposalRow> {
  await lockRow(context.db, 'proposals', id);
  return findProposal(context, id);
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
  const isExpired = row.status === 'PENDING' && row.expiresAt <= at;
  const expiresAt = serializeTimestamp(row.expiresAt);
  return withEtag(
    row.version,
    {
      id: serializeId(row.id),
      operation: row.operation,
      params: row.params,
      body: row.body,
      reason: row.reason,
      ifMatch: row.ifMatch,
      status: isExpired ? 'EXPIRED' : row.status,
      target: row.target,
      preview: row.preview,
      result: row.result,
      createdId: serializeId(row.createdId),
      note: row.note,
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
