import {
  type Asset,
  type AssetPatch,
  type AssetQuery,
  type AssetStatus,
  assetTransitions,
  type NewAsset,
} from '@itsm-api/contract';
import { type Context, transaction } from '../context.ts';
import type { Prisma } from '../data/generated/client.ts';
import { lockRow } from '../data/lock.ts';
import { invalidField, notFound } from '../errors.ts';
import { emit } from '../webhooks/emit.ts';
import {
  changesBetween,
  mergeCustomFields,
  presentCustomFields,
  presentDate,
  presentId,
  presentTimestamp,
  presentTimestamps,
  toDate,
} from './fields.ts';
import { anyOf, type Page, readPage } from './lists.ts';
import { checkUsers, reference } from './references.ts';

type AssetRow = Prisma.AssetGetPayload<object>;

/** A page of assets, newest first (spec §4). */
export function listAssets({ db }: Context, query: AssetQuery): Promise<Page<Asset>> {
  const where = {
    ...anyOf('status', query.status),
    ...anyOf('type', query.type),
    ...anyOf('assignedToId', query.assignedToId),
  };
  return readPage(query, {
    count: () => db.asset.count({ where }),
    find: async (range) => (await db.asset.findMany({ where, orderBy: { id: 'desc' }, ...range })).map(presentAsset),
  });
}

/**
 * Creates an asset and emits `asset.created`. No endpoint of v1 calls it; the command line does.
 * @throws ApiError INVALID_REFERENCE, or VALIDATION_ERROR when the tag is taken
 */
export function createAsset(context: Context, input: NewAsset): Promise<Asset> {
  return transaction(context, async (context) => {
    const { db } = context;
    await checkUsers(context, reference('assignedToId', input.assignedToId));
    if (await db.asset.findFirst({ where: { assetTag: input.assetTag }, select: { id: true } })) {
      throw invalidField('VALIDATION_ERROR', 'assetTag', `${input.assetTag} is taken by another asset`);
    }
    const row = await db.asset.create({
      data: {
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
        customFields: input.customFields ?? {},
      },
    });
    const asset = presentAsset(row);
    await emit(context, 'asset.created', { payload: asset });
    return asset;
  });
}

/**
 * Changes an asset; a patch that changes nothing leaves `updatedAt` (docs/decisions/assets.md).
 * @throws ApiError NOT_FOUND, INVALID_TRANSITION, INVALID_REFERENCE, VALIDATION_ERROR
 */
export function updateAsset(context: Context, id: number, patch: AssetPatch): Promise<Asset> {
  return transaction(context, async (context) => {
    const { db } = context;
    if (!(await lockRow(db, 'assets', id))) throw notFound('asset');
    const current = await db.asset.findFirst({ where: { id } });
    if (current === null) throw notFound('asset');
    const before = presentAsset(current);
    const after = merge(before, patch);
    if (Object.keys(changesBetween(before, after)).length === 0) return before;

    await checkUsers(context, reference('assignedToId', patch.assignedToId, before.assignedToId));
    const { id: _, assetTag, createdAt, updatedAt, ...columns } = after;
    const [row] = await db.asset.updateManyAndReturn({
      where: { id },
      data: {
        ...columns,
        purchaseDate: toDate(after.purchaseDate),
        warrantyExpiresAt: toDate(after.warrantyExpiresAt),
      },
    });
    if (row === undefined) throw notFound('asset');
    return presentAsset(row);
  });
}

/** An asset as the API answers it and as events carry it. */
export function presentAsset(row: AssetRow): Asset {
  return {
    id: presentId(row.id),
    name: row.name,
    assetTag: row.assetTag,
    serialNumber: row.serialNumber,
    type: row.type,
    status: row.status,
    manufacturer: row.manufacturer,
    model: row.model,
    location: row.location,
    assignedToId: presentId(row.assignedToId),
    purchaseDate: presentDate(row.purchaseDate),
    purchaseCost: row.purchaseCost === null ? null : row.purchaseCost.toFixed(2),
    warrantyExpiresAt: presentTimestamp(row.warrantyExpiresAt),
    notes: row.notes,
    customFields: presentCustomFields(row.customFields),
    ...presentTimestamps(row),
  };
}

/** The asset as the patch would leave it. @throws ApiError INVALID_TRANSITION */
function merge(before: Asset, { customFields, ...fields }: AssetPatch): Asset {
  const after: Asset = {
    ...before,
    ...fields,
    status: fields.status ?? statusOfAssignment(before, fields.assignedToId),
    customFields: mergeCustomFields(before.customFields, customFields),
  };
  if (after.status !== before.status && !assetTransitions(before.status).includes(after.status)) {
    throw invalidField(
      'INVALID_TRANSITION',
      'status',
      `cannot become ${after.status}: the asset is ${before.status}, which is final`,
    );
  }
  return after;
}

/** Assigning puts an asset to use, and taking it back from use puts it into stock. */
function statusOfAssignment(before: Asset, assignedToId: number | null | undefined): AssetStatus {
  if (assignedToId === undefined || assignedToId === before.assignedToId) return before.status;
  if (assignedToId !== null) return 'IN_USE';
  return before.status === 'IN_USE' ? 'IN_STOCK' : before.status;
}
