import type { NewAsset } from '@itsm-api/contract';
import type { CustomFieldRules } from '../custom-fields/rules.ts';
import { assertCustomFields, findRulesFor } from '../custom-fields/value-checks.ts';
import type { Context } from '../shared/context.ts';
import { type ExternalIds, rejectTaken } from '../shared/external-ids.ts';
import { assertKnown, findKnown, type Known, noReferences, reference } from '../shared/foreign-keys.ts';

/*
 * The rules for new assets and changes that depend on other rows. Single requests and upserts check them in this order.
 */

/** The fields of a new asset or a change that the rules check. */
interface Checked extends Pick<Partial<NewAsset>, 'assignedToId' | 'externalId' | 'customFields'> {
  /** The asset before a change. Undefined for a new asset. */
  before: Pick<NewAsset, 'assignedToId' | 'externalId'> | undefined;
}

/** The data that the rules for some new assets or changes depend on. */
export interface AssetRules {
  known: Known;
  fields: CustomFieldRules | undefined;
}

/** Looks up the data that the rules for new assets or changes depend on. */
export async function findAssetRules(context: Context, given: readonly Checked[]): Promise<AssetRules> {
  return {
    // Another request can change the assignee before this request locks the asset, so all assignees are looked up.
    known: await findKnown(
      context,
      given.map(({ assignedToId }) => referencesOf({ assignedToId, before: undefined })),
    ),
    fields: await findRulesFor(context, 'ASSET', given.map(toFieldRequest)),
  };
}

/**
 * Checks a new asset or a change.
 * @param taken the locked external ids from `lockExternalIds`
 * @throws ApiError INVALID_REFERENCE, VALIDATION_ERROR, EXTERNAL_ID_EXISTS
 */
export function assertAssetRules(
  context: Context,
  { known, fields }: AssetRules,
  taken: ExternalIds,
  given: Checked,
): void {
  assertKnown(referencesOf(given), known);
  assertCustomFields(fields, toFieldRequest(given), context);
  if (given.externalId !== given.before?.externalId) rejectTaken('asset', taken, given.externalId);
}

function referencesOf({ assignedToId, before }: Checked) {
  return { ...noReferences, users: reference('assignedToId', assignedToId, before?.assignedToId) };
}

function toFieldRequest({ customFields, before }: Checked) {
  return { customFields, isNew: before === undefined };
}
