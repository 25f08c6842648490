import {
  InvalidItem,
  type NewProposal,
  type ProposalOperation,
  type ProposalTarget,
  proposable,
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

type Request<Name extends ProposalOperation> = Extract<NewProposal, { operation: Name }>;

/** A row of the database as the API returns it. */
export type Row = { id: number } & Record<string, unknown>;

/** A row that a request changes, or to which it adds another row. */
export interface TargetRow {
  target: ProposalTarget;
  row: Row;
}

/** The resources that can be targets: their table, and the function that returns one of them. */
const kinds = {
  TICKET: { table: 'tickets', get: getTicket },
  ASSET: { table: 'assets', get: getAsset },
  PROJECT: { table: 'projects', get: getProject },
  TASK: { table: 'tasks', get: getTask },
} as const;
type Kind = keyof typeof kinds;

interface Operation<Name extends ProposalOperation> {
  /** Runs the request. @throws ApiError */
  run(context: UserContext & Transaction, request: Request<Name>): Promise<unknown>;
  /** The kind of the row that the request changes. */
  changes?: Kind;
  /** The kind of the row to which the request adds another row. */
  addsTo?: Kind;
}

/** All operations. If one is missing, this table doesn't compile. */
const operations: { [Name in ProposalOperation]: Operation<Name> } = {
  tickets_create: { run: (context, { body }) => createTicket(context, body) },
  tickets_update: { changes: 'TICKET', run: (context, { params, body }) => updateTicket(context, params.id, body) },
  comments_create: { addsTo: 'TICKET', run: (context, { params, body }) => createComment(context, params.id, body) },
  links_create: { addsTo: 'TICKET', run: (context, { params, body }) => createLink(context, params.id, body) },
  assets_create: { run: (context, { body }) => createAsset(context, body) },
  assets_update: { changes: 'ASSET', run: (context, { params, body }) => updateAsset(context, params.id, body) },
  // The body decides which assets the request changes.
  assets_upsertMany: { run: (context, { body }) => upsertAssets(context, body) },
  tasks_create: { addsTo: 'PROJECT', run: (context, { params, body }) => createTask(context, params.id, body) },
  tasks_update: { changes: 'TASK', run: (context, { params, body }) => updateTask(context, params.taskId, body) },
  requestForms_submit: { run: (context, { params, body }) => submitForm(context, params.key, body) },
};

/**
 * Locks the rows that a request changes or to which it adds a row, in the order in which its endpoint locks them, and
 * returns them. Locks the external ids of assets before assets (assets/upsert.ts).
 * @throws ApiError NOT_FOUND
 */
export async function lockTargets(context: Context & Transaction, request: NewProposal): Promise<TargetRow[]> {
  const { db } = context;
  const { changes, addsTo = changes } = operations[request.operation];
  if (['assets_update', 'assets_upsertMany'].includes(request.operation)) await lockTenant(db, 'assetExternalIds');
  if (request.operation === 'assets_upsertMany') return lockUpserted(context, request);
  if (addsTo === undefined || !('params' in request)) return [];
  const { id, taskId = id } = request.params as { id: number; taskId?: number };
  const { table, get } = kinds[addsTo];
  await db.$pipeline([
    lockOf(db, table, request.operation === 'links_create' ? [taskId, request.body.ticketId] : [taskId]),
  ]);
  return [{ target: `${addsTo}:${taskId}`, row: await get(context, taskId) }];
}

async function lockUpserted(
  { db }: Context,
  { body: { assets, matchBy = 'assetTag' } }: Request<'assets_upsertMany'>,
): Promise<TargetRow[]> {
  const matches = assets.flatMap((item) => (item instanceof InvalidItem ? [] : (item[matchBy] ?? [])));
  const found = await db.asset.findMany({ where: { [matchBy]: { in: matches } }, select: { id: true } });
  const ids = found.map(({ id }) => Number(id));
  if (ids.length === 0) return [];
  await db.$pipeline([lockOf(db, 'assets', ids)]);
  const rows = await db.asset.findMany({ where: { id: { in: ids } } });
  return rows.map(presentAsset).map((row) => ({ target: `ASSET:${row.id}`, row }));
}

/** A row after a request, and whether the request has created it. */
interface Written {
  row: Row;
  isNew: boolean;
}

type UpsertedItem = { result: string; data: Row } | { error: ApiError };

/** Runs a request, and returns the rows that it has written. @throws ApiError, also for an item of an upsert */
export async function runRequest(context: UserContext & Transaction, request: NewProposal): Promise<Written[]> {
  const { run, changes } = operations[request.operation] as Operation<ProposalOperation>;
  const [response] = Object.values(proposable[request.operation].responses) as [z.ZodObject];
  // The wrapper of the endpoint checks the response of POST /proposals, but not the response of the request.
  const { data } = response.parse({ success: true, data: await run(context, request) });
  if (request.operation !== 'assets_upsertMany') return [{ row: data as Row, isNew: changes === undefined }];
  return (data as UpsertedItem[]).map((item, index) => {
    if ('error' in item) throw belowPath(item.error, `assets.${index}.`);
    return { row: item.data, isNew: item.result === 'CREATED' };
  });
}

/** Returns an error whose details have longer paths. @param path the path, which ends with a dot */
export function belowPath({ code, message, details }: Pick<ApiError, 'code' | 'message' | 'details'>, path: string) {
  const [first] = details ?? [];
  const isAbout = first !== undefined && message.startsWith(`${first.path} `);
  return new ApiError(code, isAbout ? path + message : message, {
    ...(details && { details: details.map((detail) => ({ ...detail, path: path + detail.path })) }),
  });
}
