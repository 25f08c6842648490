import {
  type Asset,
  type AssetPatch,
  type AssetQuery,
  type AssetStatus,
  assetTransitions,
  type NewAsset,
} from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { json } from '../../database/client/json-column.ts';
import { sql, tenant } from '../../database/client/sql.ts';
import { type None, oneAsJson } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { createUnique } from '../../database/client/unique-violation.ts';
import { lockRow } from '../../database/row-lock.ts';
import { invalidField, requireRow, takenBy } from '../../shared/errors.ts';
import { withEtag } from '../../shared/etag.ts';
import { serializeDate, serializeId, serializeTimestamp, serializeTimestamps, toDate } from '../../shared/serialize.ts';
import { emit } from '../../webhooks/outbox/emit.ts';
import { record } from '../activities/record.ts';
import { findFieldFilters } from '../custom-fields/filters.ts';
import { type Context, transaction } from '../shared/context.ts';
import { mergeCustomFields } from '../shared/diff.ts';
import { lockExternalIds, mergeExternalId } from '../shared/external-ids.ts';
import { anyOf, type Page, readSearchablePage } from '../shared/lists.ts';
import { mergeTags } from '../shared/tags.ts';
import { changeVersioned } from '../shared/versioned-change.ts';
import { rowsOf } from '../sync/change-feed.ts';
import { assertAssetRules, findAssetRules } from './rules.ts';
import { type AssetRequestFields, writeChanges } from './sql.ts';

type AssetRow = Prisma.AssetGetPayload<object>;

/** Returns a page of assets, newest first (spec §4). @throws ApiError QUERY_TOO_BROAD, VALIDATION_ERROR */
export async function listAssets({ db }: Context, query: AssetQuery): Promise<Page<Asset>> {
  const fields = await findFieldFilters(db, 'ASSET', query.customFields);
  const where = {
    ...anyOf('status', query.status),
    ...anyOf('type', query.type),
    ...anyOf('assignedToId', query.assignedToId),
    ...anyOf('externalId', query.externalId),
    ...anyOf('assetTag', formsOf(query.assetTag)),
    ...anyOf('serialNumber', formsOf(query.serialNumber)),
    ...(query.tag && { tagged: { some: { tag: { in: query.tag } } } }),
    ...(fields && {
      AND: fields.map(({ key, values }) => ({ fieldValues: { some: { key, value: { in: values } } } })),
    }),
  };
  return readSearchablePage(query, {
    db,
    resource: 'assets',
    where,
    count: () => db.asset.count({ where }),
    find: async (asked) => (await db.asset.findMany({ orderBy: { id: 'desc' }, ...asked })).map(presentAsset),
  });
}

/**
 * Returns the forms of texts in which assets can have them. Rows of earlier releases keep another normalization form if
 * an asset has the same tag (docs/decisions/data-model.md#assets).
 */
function formsOf(texts: string[] | undefined): string[] | undefined {
  return texts?.flatMap((text) => [text, text.normalize('NFC'), text.normalize('NFD')]);
}

/** Functions that read assets for incremental sync and exports. */
export const assetRows = rowsOf('assets', (db, page) => db.asset.findMany(page), presentAsset);

/** Returns the tags and names of assets, such as `LT-0042 Laptop`, in the order of their ids. */
export async function findAssetNames({ db }: Context, ids: number[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db.asset.findMany({ where: { id: { in: ids } }, orderBy: { id: 'asc' } });
  return rows.map(({ assetTag, name }) => `${assetTag} ${name}`);
}

/** Returns one asset. @throws ApiError NOT_FOUND */
export async function getAsset({ db }: Context, id: number): Promise<Asset> {
  return presentAsset(requireRow(await db.asset.findFirst({ where: { id } }), 'asset'));
}

/**
 * Creates an asset and emits `asset.created`.
 * @throws ApiError INVALID_REFERENCE, EXTERNAL_ID_EXISTS, or VALIDATION_ERROR if the asset tag is already in use or a
 * custom field is invalid
 */
export function createAsset(context: Context, input: NewAsset): Promise<Asset> {
  return transaction(context, async (context) => {
    const { db } = context;
    const checked = { ...input, before: undefined };
    const rules = await findAssetRules(context, [checked]);
    assertAssetRules(context, rules, await lockExternalIds(context, 'asset', [input.externalId]), checked);
    const tagTaken = takenBy('asset', input.assetTag);
    const { customFields, purchaseDate, warrantyExpiresAt, ...fields } = toFields(input);
    const data = {
      ...{ ...fields, customFields: json(customFields) },
      ...{ purchaseDate: toDate(purchaseDate), warrantyExpiresAt: toDate(warrantyExpiresAt) },
    };
    const asset = presentAsset(await createUnique('assetTag', tagTaken, () => db.asset.create({ data })));
    await record(context, { resource: 'ASSET', ids: [asset.id], action: 'CREATED' });
    await emit(context, 'asset.created', { payload: asset });
    return asset;
  });
}

const selectFieldNames = oneAsJson<None, { names: string[] }>(
  () => sql`SELECT ARRAY(
    SELECT DISTINCT jsonb_object_keys(custom_fields) FROM assets WHERE tenant_id = ${tenant} ORDER BY 1) AS names`,
);

/** Returns the names of all custom fields in the tenant's assets, in alphabetical order. */
export async function listCustomFields(db: TenantClient): Promise<string[]> {
  return (await db.$sql(selectFieldNames))?.names ?? [];
}

/**
 * Updates an asset and records an activity. If the patch changes nothing, writes nothing
 * (docs/decisions/data-model.md).
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, INVALID_TRANSITION, INVALID_REFERENCE, EXTERNAL_ID_EXISTS,
 * VALIDATION_ERROR
 */
export function updateAsset(context: Context, id: number, patch: AssetPatch): Promise<Asset> {
  return transaction(context, async (context) => {
    // The order of the locks is the same as for an upsert (upsert.ts), so that they can't deadlock.
    const taken = await lockExternalIds(context, 'asset', [patch.externalId]);
    return changeVersioned(context, {
      lock: ({ db }) => lockRow(db, 'assets', id),
      read: (context) => getAsset(context, id),
      merge: (before) => mergeAsset(before, patch),
      write: async (context, { before, after, changes }) => {
        const checked = { ...patch, before };
        assertAssetRules(context, await findAssetRules(context, [checked]), taken, checked);
        return requireRow((await writeChanges(context, [{ after, changes }]))[0], 'asset');
      },
    });
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
    tags: row.tags,
    customFields: row.customFields,
    ...serializeTimestamps(row),
  });
}

/** Returns the fields of a new asset (docs/decisions/data-model.md). */
export function toFields(input: NewAsset): AssetRequestFields {
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
    purchaseDate: input.purchaseDate ?? null,
    purchaseCost: input.purchaseCost ?? null,
    warrantyExpiresAt: input.warrantyExpiresAt ?? null,
    notes: input.notes ?? null,
    externalId: input.externalId ?? null,
    tags: input.tags ?? [],
    customFields: input.customFields ?? {},
  };
}

/** Applies a patch to an asset and returns the result. @throws ApiError INVALID_TRANSITION */
export function mergeAsset(before: Asset, patch: AssetPatch): Asset {
  const { customFields, externalId, tags, addTags, removeTags, ...fields } = patch;
  const after: Asset = {
    ...before,
    ...fields,
    status: fields.status ?? getStatusOfAssignment(before, fields.assignedToId),
    externalId: mergeExternalId(before.externalId, externalId),
    tags: mergeTags(before.tags, { tags, addTags, removeTags }),
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
