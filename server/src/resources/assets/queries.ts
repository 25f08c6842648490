import {
  type Asset,
  type AssetPatch,
  type AssetQuery,
  type AssetStatus,
  assetTransitions,
  type NewAsset,
} from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { queryOne, tenantQuery } from '../../database/client/raw-sql.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { json } from '../../database/json-column.ts';
import { lockRow } from '../../database/row-lock.ts';
import { createUnique } from '../../database/unique-violation.ts';
import { invalidField, notFound, takenBy } from '../../shared/errors.ts';
import { requireMatch, withEtag } from '../../shared/etag.ts';
import { serializeDate, serializeId, serializeTimestamp, serializeTimestamps, toDate } from '../../shared/serialize.ts';
import { emit, emitAll } from '../../webhooks/outbox/emit.ts';
import type { SubscriptionRef } from '../../webhooks/subscription-ref.ts';
import { record } from '../activities/record.ts';
import { checkNewRows, type Progress } from '../csv/import-checks.ts';
import { chunksOf } from '../shared/chunks.ts';
import { type Context, type Transaction, transaction } from '../shared/context.ts';
import { diffFields, mergeCustomFields } from '../shared/diff.ts';
import { lockExternalId, lockExternalIds, mergeExternalId } from '../shared/external-ids.ts';
import { checkUsers, reference } from '../shared/foreign-keys.ts';
import { anyOf, type Page, readSearchablePage } from '../shared/lists.ts';
import type { Rows } from '../sync/change-feed.ts';
import { assetColumns } from './columns.ts';

type AssetRow = Prisma.AssetGetPayload<object>;

/** Returns a page of assets, newest first (spec §4). */
export function listAssets({ db }: Context, query: AssetQuery): Promise<Page<Asset>> {
  const where = {
    ...anyOf('status', query.status),
    ...anyOf('type', query.type),
    ...anyOf('assignedToId', query.assignedToId),
    ...anyOf('externalId', query.externalId),
  };
  return readSearchablePage(query, {
    db,
    resource: 'assets',
    where,
    count: () => db.asset.count({ where }),
    find: async (asked) => (await db.asset.findMany({ orderBy: { id: 'desc' }, ...asked })).map(presentAsset),
  });
}

/** Functions that read assets for incremental sync and exports. */
export const assetRows: Rows<Asset> = {
  resource: 'assets',
  named: async (db, ids) => (await db.asset.findMany({ where: { id: { in: ids } } })).map(presentAsset),
  after: async (db, id, take) => {
    const rows = await db.asset.findMany({ where: { id: { gt: id } }, orderBy: { id: 'asc' }, take });
    return rows.map(presentAsset);
  },
};

/** Returns the tags and names of assets, such as `LT-0042 Laptop`, in the order of their ids. */
export async function findAssetNames({ db }: Context, ids: number[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db.asset.findMany({ where: { id: { in: ids } }, orderBy: { id: 'asc' } });
  return rows.map(({ assetTag, name }) => `${assetTag} ${name}`);
}

/** Returns one asset. @throws ApiError NOT_FOUND */
export async function getAsset({ db }: Context, id: number): Promise<Asset> {
  const row = await db.asset.findFirst({ where: { id } });
  if (row === null) throw notFound('asset');
  return presentAsset(row);
}

/**
 * Creates an asset and emits `asset.created`.
 * @throws ApiError INVALID_REFERENCE, EXTERNAL_ID_EXISTS, or VALIDATION_ERROR if the asset tag is already in use
 */
export function createAsset(context: Context, input: NewAsset): Promise<Asset> {
  return transaction(context, async (context) => {
    const { db } = context;
    await checkUsers(context, reference('assignedToId', input.assignedToId));
    await lockExternalId(context, 'asset', input.externalId);
    const taken = takenBy('asset', input.assetTag);
    const row = await createUnique('assetTag', taken, () => db.asset.create({ data: toColumns(input) }));
    const asset = presentAsset(row);
    await record(context, { resource: 'ASSET', ids: [asset.id], action: 'CREATED' });
    await emit(context, 'asset.created', { payload: asset });
    return asset;
  });
}

const takenDuringImport =
  'must be unique, and one of these tags was taken during the import. Import the file again to see which one.';

/**
 * Creates all assets in one transaction. If any asset is invalid, creates none. Emits `asset.created` for each asset.
 * @throws ApiError VALIDATION_ERROR; the paths in the details begin with the index of the invalid asset, as in
 * `0.assetTag`
 */
export function createAssets(context: Context, inputs: readonly NewAsset[], onProgress: Progress): Promise<void> {
  return transaction(context, async (context) => {
    await checkAssets(context, inputs);
    const { emitter, putJobsIn } = deferJobs(context);
    let created = 0;
    for (const chunk of chunksOf(inputs, 500)) {
      const rows = await createUnique('assetTag', takenDuringImport, () =>
        context.db.asset.createManyAndReturn({ data: chunk.map(toColumns) }),
      );
      await record(context, { resource: 'ASSET', ids: rows.map(({ id }) => Number(id)), action: 'CREATED' });
      for (const some of chunksOf(rows, 100)) {
        const emissions = some.map((row) => ({ payload: presentAsset(row) }));
        await emitAll(emitter, 'asset.created', emissions);
      }
      created += chunk.length;
      onProgress(created);
    }
    await putJobsIn();
  });
}

/**
 * Checks that `createAssets` would succeed with these inputs.
 * @throws ApiError VALIDATION_ERROR with the details that `createAssets` would return
 */
export async function checkAssets(context: Context, inputs: readonly NewAsset[]): Promise<void> {
  const { db } = context;
  const rows = inputs.map(({ assetTag, externalId, assignedToId }) => {
    return { unique: { assetTag, externalId }, userId: assignedToId };
  });
  await checkNewRows(db, assetColumns, rows, {
    assetTag: async (assetTags) => {
      const found = await db.asset.findMany({ where: { assetTag: { in: assetTags } }, select: { assetTag: true } });
      return found.map(({ assetTag }) => assetTag);
    },
    externalId: async (externalIds) => [...(await lockExternalIds(context, 'asset', externalIds)).keys()],
  });
}

const customFieldNames = tenantQuery(`SELECT ARRAY(
  SELECT DISTINCT jsonb_object_keys(custom_fields) FROM assets WHERE tenant_id = $1 ORDER BY 1) AS names`);

/** Returns the names of all custom fields in the tenant's assets, in alphabetical order. */
export async function listCustomFields(db: TenantClient): Promise<string[]> {
  return (await queryOne<{ names: string[] }>(db, customFieldNames, []))?.names ?? [];
}

/**
 * Updates an asset and records an activity. If the patch changes nothing, writes nothing
 * (docs/decisions/data-model.md).
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, INVALID_TRANSITION, INVALID_REFERENCE, EXTERNAL_ID_EXISTS,
 * VALIDATION_ERROR
 */
export function updateAsset(context: Context, id: number, patch: AssetPatch): Promise<Asset> {
  return transaction(context, async (context) => {
    const { db } = context;
    if (!(await lockRow(db, 'assets', id))) throw notFound('asset');
    const current = await db.asset.findFirst({ where: { id } });
    if (current === null) throw notFound('asset');
    const before = presentAsset(current);
    requireMatch(context.ifMatch, before);
    const after = merge(before, patch);
    const changes = diffFields(before, after);
    if (Object.keys(changes).length === 0) return before;

    await checkUsers(context, reference('assignedToId', patch.assignedToId, before.assignedToId));
    if ('externalId' in changes) await lockExternalId(context, 'asset', after.externalId);
    const { id: _, assetTag, etag, createdAt, updatedAt, ...columns } = after;
    const [row] = await db.asset.updateManyAndReturn({
      where: { id },
      data: {
        ...columns,
        customFields: json(after.customFields),
        purchaseDate: toDate(after.purchaseDate),
        warrantyExpiresAt: toDate(after.warrantyExpiresAt),
      },
    });
    if (row === undefined) throw notFound('asset');
    await record(context, { resource: 'ASSET', ids: [id], action: 'UPDATED', changes });
    return presentAsset(row);
  });
}

/** Serializes an asset for API responses and events. */
export function presentAsset(row: AssetRow): Asset {
  return withEtag(row.version, {
    id: serializeId(row.id),
    name: row.name,
    assetTag: row.assetTag,
    serialNumber: row.serialNumber,
    type: row.type,
    status: row.status,
    manufacturer: row.manufacturer,
    model: row.model,
    location: row.location,
    assignedToId: serializeId(row.assignedToId),
    purchaseDate: serializeDate(row.purchaseDate),
    purchaseCost: row.purchaseCost === null ? null : row.purchaseCost.toFixed(2),
    warrantyExpiresAt: serializeTimestamp(row.warrantyExpiresAt),
    notes: row.notes,
    externalId: row.externalId,
    customFields: row.customFields,
    ...serializeTimestamps(row),
  });
}

/** Returns the column values for a new asset (docs/decisions/data-model.md). */
function toColumns(input: NewAsset) {
  return {
    name: input.name,
    assetTag: input.assetTag,
    serialNumber: input.serialNumber ?? null,
    type: input.type,
    status: input.status ?? (input.assignedToId == null ? 'IN_STOCK' : 'IN_USE'),
    manufacturer: input.manufacturer ?? null,
    model: input.model ?? null,
    location: input.location ?? null,
    assignedToId: input.assignedToId ?? null,
    purchaseDate: toDate(input.purchaseDate ?? null),
    purchaseCost: input.purchaseCost ?? null,
    warrantyExpiresAt: toDate(input.warrantyExpiresAt ?? null),
    notes: input.notes ?? null,
    externalId: input.externalId ?? null,
    customFields: json(input.customFields ?? {}),
  } satisfies Record<keyof NewAsset, unknown>;
}

/**
 * Returns an emitter that collects dispatch jobs, and the function `putJobsIn` that inserts these jobs. Call
 * `putJobsIn` only at the end of the transaction, because an import can take minutes. Between its insertion and the
 * commit, a job blocks all other transactions that emit events to the same subscription.
 */
function deferJobs(context: Context & Transaction) {
  const waiting = new Map<bigint, SubscriptionRef>();
  const addWithin = async (_: TenantClient, subscriptions: SubscriptionRef[]) => {
    for (const each of subscriptions) waiting.set(each.subscriptionId, each);
  };
  return {
    emitter: { ...context, dispatchJobs: { ...context.dispatchJobs, addWithin } },
    putJobsIn: async () => {
      if (waiting.size > 0) await context.dispatchJobs.addWithin(context.db, [...waiting.values()]);
    },
  };
}

/** Applies a patch to an asset and returns the result. @throws ApiError INVALID_TRANSITION */
function merge(before: Asset, { customFields, externalId, ...fields }: AssetPatch): Asset {
  const after: Asset = {
    ...before,
    ...fields,
    status: fields.status ?? getStatusOfAssignment(before, fields.assignedToId),
    externalId: mergeExternalId(before.externalId, externalId),
    customFields: mergeCustomFields(before.customFields, customFields),
  };
  if (after.status !== before.status && !assetTransitions(before.status).includes(after.status)) {
    throw invalidField(
      'INVALID_TRANSITION',
      'status',
      `can't change from ${before.status} to ${after.status}. ${before.status} is final. Create a new asset instead.`,
    );
  }
  return after;
}

/**
 * Returns the status of an asset after its assignee has changed. An assigned asset becomes IN_USE. An asset that was
 * IN_USE becomes IN_STOCK if it is no longer assigned.
 */
function getStatusOfAssignment(before: Asset, assignedToId: number | null | undefined): AssetStatus {
  if (assignedToId === undefined || assignedToId === before.assignedToId) return before.status;
  if (assignedToId !== null) return 'IN_USE';
  return before.status === 'IN_USE' ? 'IN_STOCK' : before.status;
}
