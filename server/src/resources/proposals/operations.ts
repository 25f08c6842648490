import {
  type Endpoint,
  InvalidItem,
  type NewProposal,
  type ProposalOperation,
  type ProposalTarget,
  type proposable,
} from '@itsm-api/contract';
import type * as z from 'zod';
import { lockOf, lockTenant } from '../../database/row-lock.ts';
import { ApiError } from '../../shared/errors.ts';
import { createAsset, getAsset, presentAsset, updateAsset } from '../assets/queries.ts';
import { upsertAssets } from '../assets/upsert.ts';
import { getProject } from '../projects/queries.ts';
import { submitForm } from '../request-forms/submission.ts';
import type { Context, Transaction, UserContext } from '../shared/context.ts';
import { createTask, getTask, updateTask } from '../tasks/queries.ts';
import { createComment } from '../tickets/comments/comment-creation.ts';
import { createLink } from '../tickets/links/queries.ts';
import { getTicket } from '../tickets/queries.ts';
import { createTicket } from '../tickets/ticket-creation.ts';
import { updateTicket } from '../tickets/ticket-update.ts';

/* Runs the requests that can be proposed, with the functions that their endpoints call. */

type Route<Name extends ProposalOperation> = (typeof proposable)[Name];
type Body<Name extends ProposalOperation> = z.output<Route<Name>['body']>;
type Params<Name extends ProposalOperation> =
  Extract<NewProposal, { operation: Name }> extends { params: infer Given } ? Given : undefined;

/** A row of the database as the API returns it. */
export type Row = { id: number } & Record<string, unknown>;

/** A row that a request changes, or to which it adds another row. */
export interface TargetRow {
  target: ProposalTarget;
  row: Row;
}

/** A row after a request. */
interface Written {
  row: Row;
  /** Whether the request has created the row. */
  isNew: boolean;
}

interface Operation<Given, Sent> {
  /** Locks the targets of the request in the order in which its endpoint locks them, and returns them. */
  lock(context: Context & Transaction, params: Given, body: Sent): Promise<TargetRow[]>;
  /** Runs the request. @throws ApiError */
  run(context: UserContext & Transaction, params: Given, body: Sent): Promise<unknown>;
  /** Returns the rows that the request has written, from the data of its response. @throws ApiError */
  toWritten(data: unknown): Written[];
}

/** The kinds of targets: their table, and the function that returns one of them. */
const kinds = {
  TICKET: { table: 'tickets', get: getTicket },
  ASSET: { table: 'assets', get: getAsset },
  PROJECT: { table: 'projects', get: getProject },
  TASK: { table: 'tasks', get: getTask },
} as const;

async function lockTargets(
  context: Context & Transaction,
  type: keyof typeof kinds,
  id: number,
  others: readonly number[] = [],
): Promise<TargetRow[]> {
  const { table, get } = kinds[type];
  await context.db.$pipeline([lockOf(context.db, table, [id, ...others])]);
  return [{ target: `${type}:${id}`, row: await get(context, id) }];
}

/** Locks the external ids of assets before the assets, as the endpoints do (assets/upsert.ts). */
async function lockExternalIds({ db }: Context, items: readonly { externalId?: string | null | undefined }[]) {
  if (items.some(({ externalId }) => externalId != null)) await lockTenant(db, 'assetExternalIds');
}

async function lockUpserted(
  context: Context & Transaction,
  { assets, matchBy = 'assetTag' }: Body<'assets_upsertMany'>,
): Promise<TargetRow[]> {
  const { db } = context;
  const items = assets.flatMap((item) => (item instanceof InvalidItem ? [] : item));
  await lockExternalIds(context, items);
  const where = { [matchBy]: { in: items.flatMap((item) => item[matchBy] ?? []) } };
  const found = await db.asset.findMany({ where, select: { id: true } });
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => Number(id));
  await db.$pipeline([lockOf(db, 'assets', ids)]);
  const rows = await db.asset.findMany({ where: { id: { in: ids } } });
  return rows.map(presentAsset).map((row) => ({ target: `ASSET:${row.id}` as const, row }));
}

type Upserted = { result: string; data: Row } | { error: Pick<ApiError, 'code' | 'message' | 'details'> };

/** @throws ApiError the error of the first item that has one */
function toUpserted(data: Upserted[]): Written[] {
  return data.map((item, index) => {
    if (!('error' in item)) return { row: item.data, isNew: item.result === 'CREATED' };
    const { code, message, details } = item.error;
    throw belowPath(new ApiError(code, message, { ...(details && { details: [...details] }) }), `assets.${index}.`);
  });
}

const creates = { toWritten: (row: Row) => [{ row, isNew: true }] };
const updates = { toWritten: (row: Row) => [{ row, isNew: false }] };
const withoutTarget = { lock: async () => [] };

/** All operations. A missing or a misspelt one doesn't compile. */
const operations: { [Name in ProposalOperation]: Operation<Params<Name>, Body<Name>> } = {
  tickets_create: {
    ...{ ...withoutTarget, ...creates },
    run: (context, _, body) => createTicket(context, body),
  },
  tickets_update: {
    ...updates,
    lock: (context, { id }) => lockTargets(context, 'TICKET', Number(id)),
    run: (context, { id }, body) => updateTicket(context, id, body),
  },
  comments_create: {
    ...creates,
    lock: (context, { id }) => lockTargets(context, 'TICKET', Number(id)),
    run: (context, { id }, body) => createComment(context, id, body),
  },
  links_create: {
    ...creates,
    lock: (context, { id }, { ticketId }) => lockTargets(context, 'TICKET', Number(id), [ticketId]),
    run: (context, { id }, body) => createLink(context, id, body),
  },
  assets_create: {
    ...{ ...withoutTarget, ...creates },
    run: (context, _, body) => createAsset(context, body),
  },
  assets_update: {
    ...updates,
    async lock(context, { id }, body) {
      await lockExternalIds(context, [body]);
      return lockTargets(context, 'ASSET', id);
    },
    run: (context, { id }, body) => updateAsset(context, id, body),
  },
  assets_upsertMany: {
    lock: (context, _, body) => lockUpserted(context, body),
    run: (context, _, body) => upsertAssets(context, body),
    toWritten: toUpserted,
  },
  tasks_create: {
    ...creates,
    lock: (context, { id }) => lockTargets(context, 'PROJECT', id),
    run: (context, { id }, body) => createTask(context, id, body),
  },
  tasks_update: {
    ...updates,
    lock: (context, { taskId }) => lockTargets(context, 'TASK', taskId),
    run: (context, { taskId }, body) => updateTask(context, taskId, body),
  },
  requestForms_submit: {
    ...{ ...withoutTarget, ...creates },
    run: (context, { key }, body) => submitForm(context, key, body),
  },
};

/** Returns how to run an operation. The caller has parsed its parameters and its body. */
export function operationOf(name: ProposalOperation): Operation<unknown, unknown> {
  return operations[name] as Operation<unknown, unknown>;
}

/** Returns the data of a response, after a check against the contract. @throws ZodError */
export function checkResponse({ responses }: Endpoint, data: unknown): unknown {
  const [schema] = Object.values(responses) as [z.ZodObject];
  return (schema.parse({ success: true, data }) as { data: unknown }).data;
}

/** Returns an error whose details have longer paths. @param path the path, which ends with a dot */
export function belowPath({ code, message, details, retryAfterSeconds }: ApiError, path: string): ApiError {
  const [first] = details ?? [];
  const isAbout = first !== undefined && message.startsWith(`${first.path} `);
  return new ApiError(code, isAbout ? path + message : message, {
    ...(details && { details: details.map((detail) => ({ ...detail, path: path + detail.path })) }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}
