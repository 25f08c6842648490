import { type Asset, type AssetUpsertItem, type ErrorDetail, NewAsset, type UpsertOutcome } from '@itsm-api/contract';
import { ApiError } from '../../shared/errors.ts';
import type { SubscriptionRef } from '../../webhooks/subscription-ref.ts';
import type { ImportResults } from '../csv/csv-columns.ts';
import type { CsvResource } from '../csv/csv-import.ts';
import type { ImportOptions } from '../csv/import-checks.ts';
import { BulkItems } from '../shared/bulk-items.ts';
import { type Context, type Transaction, transaction } from '../shared/context.ts';
import { type AssetLine, assetColumns } from './columns.ts';
import { assetRows, listCustomFields, presentAsset } from './queries.ts';
import { predictResults, upsertItems } from './upsert.ts';

/**
 * Imports all assets in one transaction. If any asset is invalid, writes nothing. Emits `asset.created` for each new
 * asset.
 * @param inputs the assets, each with a different tag
 * @throws ApiError VALIDATION_ERROR; the paths in the details begin with the index of the invalid asset, as in
 * `0.assetTag`
 */
export function importAssets(
  context: Context,
  inputs: readonly AssetUpsertItem[],
  { update, onProgress }: ImportOptions,
): Promise<ImportResults> {
  return transaction(context, async (context) => {
    let { unchanged: done } = await checkAssets(context, inputs, { update });
    const { deferring, putJobsIn } = deferJobs(context);
    const upserted = await upsertItems(deferring, BulkItems.of(inputs), rulesOf(update), (count) => {
      done += count;
      onProgress?.(done);
    });
    const results = countResults(upserted);
    await putJobsIn();
    return results;
  });
}

/**
 * Checks that `importAssets` would succeed with these inputs, and returns the same results.
 * @throws ApiError VALIDATION_ERROR with the details that `importAssets` would return
 */
export async function checkAssets(
  context: Context,
  inputs: readonly AssetUpsertItem[],
  { update }: ImportOptions,
): Promise<ImportResults> {
  return countResults(await predictResults(context, BulkItems.of(inputs), rulesOf(update)));
}

function rulesOf(update: boolean) {
  return { matchBy: 'assetTag', createsOnly: !update } as const;
}

/** @throws ApiError VALIDATION_ERROR if an item was rejected */
function countResults({ accepted, errors }: BulkItems<{ result: UpsertOutcome }>): ImportResults {
  const details = errors.flatMap(({ index, error: { details, message } }): ErrorDetail[] =>
    (details ?? [{ path: '', message }]).map((detail) => ({
      path: `${index}.${detail.path}`,
      message: detail.message,
    })),
  );
  if (details.length > 0) {
    const count = `${details.length} ${details.length === 1 ? 'error' : 'errors'}`;
    const message = `No assets were imported, because the rows have ${count}. Correct the rows in \`details\`.`;
    throw new ApiError('VALIDATION_ERROR', message, { details });
  }
  const count = (wanted: UpsertOutcome) => accepted.filter(({ result }) => result === wanted).length;
  return { created: count('CREATED'), updated: count('UPDATED'), unchanged: count('UNCHANGED') };
}

/**
 * Returns a context that collects dispatch jobs, and the function `putJobsIn` that inserts these jobs. Call
 * `putJobsIn` only at the end of the transaction, because an import can take minutes. Between its insertion and the
 * commit, a job blocks all other transactions that emit events to the same subscription.
 */
function deferJobs(context: Context & Transaction) {
  const waiting = new Map<bigint, SubscriptionRef>();
  const addWithin = async (subscriptions: SubscriptionRef[]) => {
    for (const each of subscriptions) waiting.set(each.subscriptionId, each);
  };
  return {
    deferring: { ...context, dispatchJobs: { ...context.dispatchJobs, addWithin } },
    putJobsIn: async () => {
      if (waiting.size > 0) await context.dispatchJobs.addWithin([...waiting.values()]);
    },
  };
}

/** The CSV export and import of assets. */
export const assetCsv: CsvResource<Asset, AssetLine, AssetUpsertItem> = {
  columns: assetColumns,
  rows: assetRows,
  customFields: listCustomFields,
  findRows: async (db, values) => {
    const assetTags = values.flatMap((value) => NewAsset.shape.assetTag.safeParse(value).data ?? []);
    return (await db.asset.findMany({ where: { assetTag: { in: assetTags } } })).map(presentAsset);
  },
  inputOf: ({ assignedToId: _, ...line }, userId) => ({
    ...line,
    ...(userId !== undefined && { assignedToId: userId }),
  }),
  check: checkAssets,
  write: importAssets,
};
