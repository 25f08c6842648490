import type { Asset, AssetPatch, NewAsset } from '@itsm-api/contract';
import { unknownId, unknownText } from '../values.ts';
import { anyOf, type ListQuery, matchesFields } from './lists.ts';
import { isSame, mergeFields, type Outcome } from './rows.ts';
import { holdsWords } from './search.ts';
import { changeTags, normalizeTags } from './tags.ts';
import { type References, rejectionsOf } from './users.ts';

/* Models assets (docs/decisions/data-model.md). */

export function newAsset(input: NewAsset, references: References): Outcome<Asset> {
  const codes = rejectionsOf(references, { users: [input.assignedToId] });
  if (codes.length > 0) return { codes };
  return {
    row: {
      id: unknownId,
      name: input.name.trim(),
      assetTag: input.assetTag.trim(),
      serialNumber: input.serialNumber ?? null,
      type: input.type,
      status: input.status ?? (input.assignedToId == null ? 'IN_STOCK' : 'IN_USE'),
      manufacturer: input.manufacturer ?? null,
      model: input.model ?? null,
      location: input.location ?? null,
      assignedToId: input.assignedToId ?? null,
      purchaseDate: input.purchaseDate ?? null,
      purchaseCost: twoDecimals(input.purchaseCost ?? null),
      warrantyExpiresAt: input.warrantyExpiresAt ?? null,
      notes: input.notes ?? null,
      externalId: input.externalId ?? null,
      tags: normalizeTags(input.tags ?? []),
      customFields: input.customFields ?? {},
      etag: unknownText,
      createdAt: unknownText,
      updatedAt: unknownText,
    },
  };
}

export function changeAsset(before: Asset, patch: AssetPatch, references: References): Outcome<Asset> {
  const { customFields, name, purchaseCost, tags, addTags, removeTags, ...fields } = patch;
  const after: Asset = {
    ...before,
    ...fields,
    ...(name !== undefined && { name: name.trim() }),
    ...(purchaseCost !== undefined && { purchaseCost: twoDecimals(purchaseCost) }),
    tags: changeTags(before.tags, { tags, addTags, removeTags }),
    customFields: mergeFields(before.customFields, customFields),
  };
  const isAssigned = after.assignedToId !== before.assignedToId;
  if (patch.status === undefined && isAssigned) {
    if (after.assignedToId !== null) after.status = 'IN_USE';
    else if (before.status === 'IN_USE') after.status = 'IN_STOCK';
  }
  const codes = [
    ...(after.externalId !== before.externalId && before.externalId !== null ? ['VALIDATION_ERROR' as const] : []),
    ...(before.status === 'DISPOSED' && after.status !== 'DISPOSED' ? ['INVALID_TRANSITION' as const] : []),
    ...rejectionsOf(references, { users: [isAssigned ? after.assignedToId : null] }),
  ];
  if (codes.length > 0) return { codes };
  return { row: isSame(before, after) ? before : { ...after, etag: unknownText, updatedAt: unknownText } };
}

/** Formats a cost with two decimal places, as in API responses. */
function twoDecimals(cost: string | null): string | null {
  if (cost === null) return null;
  const [whole = '', cents = ''] = cost.split('.');
  return `${whole}.${cents.padEnd(2, '0')}`;
}

export function isAssetIn(asset: Asset, query: ListQuery): boolean {
  return (
    anyOf(query.status, asset.status) &&
    anyOf(query.type, asset.type) &&
    anyOf(query.assignedToId, asset.assignedToId) &&
    anyOf(query.externalId, asset.externalId) &&
    (query.tag === undefined || asset.tags.some((tag) => anyOf(query.tag, tag))) &&
    matchesFields(asset, query.customFields) &&
    (query.q === undefined || holdsWords(query.q as string, [asset.name, asset.assetTag, asset.serialNumber ?? '']))
  );
}
