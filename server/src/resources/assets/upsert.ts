import {
  type Asset,
  type AssetMatch,
  type AssetPatch,
  type AssetUpsert,
  type AssetUpsertItem,
  type AssetUpsertResult,
  FilledCustomFields,
  InvalidItem,
  type NewAsset,
  type UpsertOutcome,
} from '@itsm-api/contract';
import { lockOf } from '../../database/row-lock.ts';
import { invalidField, takenBy } from '../../shared/errors.ts';
import { validationError } from '../../shared/validation.ts';
import { emitAll } from '../../webhooks/outbox/emit.ts';
import { record } from '../activities/record.ts';
import { storedBulkResponse } from '../idempotency/stored-bulk-response.ts';
import { BulkItems } from '../shared/bulk-items.ts';
import { chunksOf } from '../shared/chunks.ts';
import { type Context, type Transaction, transaction } from '../shared/context.ts';
import { diffFields, mergeCustomFields } from '../shared/diff.ts';
import {
  addExternalIds,
  type ExternalIds,
  lockExternalIds,
  rejectTaken,
  withoutRepeated,
} from '../shared/external-ids.ts';
import { mergeAsset, presentAsset, toFields } from './queries.ts';
import { type AssetRules, assertAssetRules, findAssetRules } from './rules.ts';
import { type ChangedAsset, insertNew, writeChanges } from './sql.ts';

/*
 * Creates or updates many assets in one request (docs/decisions/data-model.md#upsert). Concurrent requests acquire
 * their locks in the same order, so that they can't deadlock: external ids, then new asset tags, then existing rows.
 */

/** The maximum numbers of assets in a statement that reads assets, writes assets or emits events. */
const [maxRead, maxWritten, maxEvents] = [5000, 500, 100];

/** An item that creates an asset. */
interface Creation {
  item: AssetUpsertItem;
  creates: NewAsset;
}

/** An item whose asset exists. `change` is undefined if the asset already has all values. */
interface Change {
  item: AssetUpsertItem;
  before: Asset;
  change: ChangedAsset | undefined;
}

type Plan = Creation | Change;

/** An item that has been written, or that changes nothing. */
interface Upserted {
  result: UpsertOutcome;
  data: Asset;
}

/**
 * Creates or updates the assets in a bulk request. An existing asset is changed with the rules of `updateAsset`, and a
 * new one is created with the rules of `createAsset`. Resolves to one result per item. Emits `asset.created` for each
 * new asset.
 */
export function upsertAssets(
  context: Context,
  { assets, matchBy = 'assetTag' }: AssetUpsert,
): Promise<AssetUpsertResult[]> {
  return transaction(context, async (context) => {
    const upserted = await upsertItems(context, findMatches(assets, matchBy), { matchBy });
    return upserted.results(
      ({ result, data }) => ({ status: result === 'CREATED' ? 201 : 200, result, data }),
      context.publicUrl,
    );
  });
}

/** The stored form of the response of `upsertAssets`. */
export const upsertFormat = storedBulkResponse(async ({ db }, ids) =>
  (await db.asset.findMany({ where: { id: { in: ids } } })).map(presentAsset),
);

/** Rejects the items without a value in the match field, and the items that repeat the value of an earlier item. */
function findMatches(given: readonly (AssetUpsertItem | InvalidItem)[], matchBy: AssetMatch) {
  const firsts = new Map<string, number>();
  for (const [index, item] of given.entries()) {
    const match = item instanceof InvalidItem ? undefined : item[matchBy];
    if (match != null && !firsts.has(match)) firsts.set(match, index);
  }
  return BulkItems.of(given).next((item) => {
    const match = item[matchBy];
    if (match == null)
      throw invalidField('VALIDATION_ERROR', matchBy, 'is required, because the request matches assets by this field');
    const first = firsts.get(match) as number;
    if (given[first] === item) return item;
    const message = `${match} is a duplicate of the item with index ${first}. Send each asset only once.`;
    throw invalidField('VALIDATION_ERROR', matchBy, message);
  });
}

/** The rules for the items of an upsert. */
interface Rules {
  matchBy: AssetMatch;
  /** Whether an item fails if its asset exists. */
  createsOnly?: boolean;
}

/**
 * Creates or updates assets. The items have different values in the match field.
 * @param onWritten called with the number of assets that were written since the last call
 */
export async function upsertItems(
  context: Context & Transaction,
  items: BulkItems<AssetUpsertItem>,
  rules: Rules,
  onWritten: (count: number) => void = () => undefined,
): Promise<BulkItems<Upserted>> {
  const { matchBy } = rules;
  const { planned, pending, assetRules } = await planItems(context, items, rules);
  const taken = await lockExternalIds(
    context,
    'asset',
    pending.map(({ item }) => item.externalId),
  );
  // `rejectNew` checks external ids after the insert, because another request can have created the asset of the item.
  const checked = planned.next((plan) => {
    if ('creates' in plan) assertAssetRules(context, assetRules, new Map(), toChecked(plan));
    return plan;
  });
  const created = await createAll(context, checked.accepted, taken);
  // Another request has created these assets since the first look.
  const existing = checked.accepted.flatMap((plan) => ('creates' in plan && !created.has(plan.item) ? plan.item : []));
  const foundNow = await findAssets(context, matchBy, existing);
  const settled = checked.next((plan) => {
    if (!('creates' in plan) || created.has(plan.item)) return plan;
    const before = foundNow.get(matchOf(plan.item, matchBy));
    if (before === undefined) return rejectNew(plan.creates, taken);
    return planItem(plan.item, before, rules);
  });
  return changeAll(context, settled, { created, assetRules, taken, onWritten });
}

/** Finds the results and the errors that `upsertItems` would return. Locks the external ids, and writes nothing. */
export async function predictResults(
  context: Context,
  items: BulkItems<AssetUpsertItem>,
  rules: Rules,
): Promise<BulkItems<{ result: UpsertOutcome }>> {
  // Looks up the external ids before the assets. Otherwise, an external id could seem taken by the asset of its item.
  const taken = await lockExternalIds(
    context,
    'asset',
    items.accepted.map(({ externalId }) => externalId),
  );
  const { planned, assetRules } = await planItems(context, items, rules);
  return planned.next((plan) => {
    if (writes(plan)) assertAssetRules(context, assetRules, taken, toChecked(plan));
    if ('creates' in plan) return { result: 'CREATED' };
    return { result: plan.change === undefined ? 'UNCHANGED' : 'UPDATED' };
  });
}

/**
 * Reads the assets of the items without locks, and decides what to do with each item. Also returns the plans that write,
 * and the rules for them.
 */
async function planItems(context: Context, items: BulkItems<AssetUpsertItem>, rules: Rules) {
  const { matchBy } = rules;
  const found = await findAssets(context, matchBy, items.accepted);
  const planned = items.next((item) => planItem(item, found.get(matchOf(item, matchBy)), rules));
  const pending = planned.accepted.filter(writes);
  return { planned, pending, assetRules: await findAssetRules(context, pending.map(toChecked)) };
}

function writes(plan: Plan): boolean {
  return 'creates' in plan || plan.change !== undefined;
}

function matchOf(item: AssetUpsertItem, matchBy: AssetMatch): string {
  return item[matchBy] as string;
}

/** Returns the assets of the items, by the value of the match field. */
async function findAssets(
  { db }: Context,
  matchBy: AssetMatch,
  items: readonly AssetUpsertItem[],
): Promise<Map<string, Asset>> {
  const found = new Map<string, Asset>();
  for (const chunk of chunksOf(items, maxRead)) {
    const rows = await db.asset.findMany({ where: { [matchBy]: { in: chunk.map((item) => matchOf(item, matchBy)) } } });
    for (const row of rows) found.set(row[matchBy] as string, presentAsset(row));
  }
  return found;
}

/** Decides whether an item creates an asset, changes one, or changes nothing. @throws ApiError */
function planItem(item: AssetUpsertItem, before: Asset | undefined, { createsOnly = false }: Rules): Plan {
  if (before === undefined) return { item, creates: toNew(item) };
  return createsOnly ? rejectTag(before) : planChange(item, before);
}

function planChange(item: AssetUpsertItem, before: Asset): Change {
  if (item.assetTag !== undefined && item.assetTag !== before.assetTag) {
    const message = `can't change from ${before.assetTag}. Send the item without it.`;
    throw invalidField('VALIDATION_ERROR', 'assetTag', message);
  }
  const after = mergeAsset(before, toPatch(item));
  const changes = diffFields(before, after);
  return { item, before, change: Object.keys(changes).length === 0 ? undefined : { after, changes } };
}

function toPatch({ assetTag: _, status, tags, customFields, ...fields }: AssetUpsertItem): AssetPatch {
  const cleared = tags === null ? [] : tags;
  return { ...fields, status: status ?? undefined, tags: cleared, customFields: customFields ?? undefined };
}

/** @throws ApiError VALIDATION_ERROR if a field is missing that a new asset requires */
function toNew(item: AssetUpsertItem): NewAsset {
  const { name, assetTag, type } = item;
  const missing = Object.entries({ name, assetTag, type }).filter(([, value]) => value === undefined);
  if (name === undefined || assetTag === undefined || type === undefined)
    throw validationError(missing.map(([path]) => ({ path, message: 'is required for a new asset' })));
  const customFields = mergeCustomFields({}, item.customFields ?? undefined, FilledCustomFields);
  return { ...item, name, assetTag, type, customFields };
}

function toChecked(plan: Plan) {
  return { ...plan.item, before: 'before' in plan ? plan.before : undefined };
}

/** Sorts new assets by tag. Transactions that insert several assets in this order can't deadlock. */
function inTagOrder(inputs: readonly NewAsset[]): NewAsset[] {
  return inputs.toSorted((a, b) => (a.assetTag < b.assetTag ? -1 : 1));
}

/** Creates the assets whose tags and external ids are free. Returns the new assets by item. */
async function createAll(
  context: Context,
  plans: readonly Plan[],
  taken: ExternalIds,
): Promise<Map<AssetUpsertItem, Asset>> {
  const free = plans.filter((plan) => 'creates' in plan && !taken.has(plan.creates.externalId ?? '')) as Creation[];
  const unique = withoutRepeated(free, ({ creates }) => [creates.externalId]);
  const assets = new Map<string, Asset>();
  for (const chunk of chunksOf(inTagOrder(unique.map(({ creates }) => creates)), maxWritten)) {
    for (const asset of await insertNew(context, chunk.map(toFields))) assets.set(asset.assetTag, asset);
  }
  addExternalIds(taken, [...assets.values()]);
  const created = new Map<AssetUpsertItem, Asset>();
  for (const { item, creates } of unique) {
    const asset = assets.get(creates.assetTag);
    // Of two items with the same tag, only the first one has created the asset.
    if (asset !== undefined && assets.delete(creates.assetTag)) created.set(item, asset);
  }
  return created;
}

/**
 * Rejects a new asset whose tag or external id belongs to an asset that the item doesn't match.
 * @throws ApiError EXTERNAL_ID_EXISTS, VALIDATION_ERROR
 */
function rejectNew(creates: NewAsset, taken: ExternalIds): never {
  rejectTaken('asset', taken, creates.externalId);
  return rejectTag(creates);
}

function rejectTag({ assetTag }: { assetTag: string }): never {
  throw invalidField('VALIDATION_ERROR', 'assetTag', takenBy('asset', assetTag));
}

/** The results of the steps before the changes. */
interface Checks {
  created: ReadonlyMap<AssetUpsertItem, Asset>;
  assetRules: AssetRules;
  taken: ExternalIds;
  onWritten: (count: number) => void;
}

/** Writes the changes of existing assets, and the activities and events of new ones. */
async function changeAll(
  context: Context & Transaction,
  settled: BulkItems<Plan>,
  { created, assetRules, taken, onWritten }: Checks,
): Promise<BulkItems<Upserted>> {
  const ids = settled.accepted.flatMap((plan) => ('change' in plan && plan.change ? plan.before.id : []));
  const locked = await lockAssets(context, ids);
  const checked = settled.next((plan) => {
    if ('creates' in plan || plan.change === undefined) return plan;
    const latest = planChange(plan.item, locked.get(plan.before.id) as Asset);
    if (latest.change === undefined) return latest;
    assertAssetRules(context, assetRules, taken, toChecked(latest));
    if ('externalId' in latest.change.changes) addExternalIds(taken, [latest.change.after]);
    return latest;
  });
  const changed = checked.accepted.flatMap((plan) => ('change' in plan && plan.change) || []);
  const written = new Map<number, Asset>();
  for (const chunk of chunksOf(changed, maxWritten)) {
    for (const asset of await writeChanges(context, chunk)) written.set(asset.id, asset);
    onWritten(chunk.length);
  }
  for (const chunk of chunksOf([...created.values()], maxWritten)) {
    await announce(context, chunk);
    onWritten(chunk.length);
  }
  return checked.next((plan): Upserted => {
    if ('creates' in plan) return { result: 'CREATED', data: created.get(plan.item) as Asset };
    if (plan.change === undefined) return { result: 'UNCHANGED', data: plan.before };
    return { result: 'UPDATED', data: written.get(plan.before.id) as Asset };
  });
}

/** Locks assets until the end of the transaction, and returns their latest versions by id. */
async function lockAssets({ db }: Context, ids: number[]): Promise<Map<number, Asset>> {
  if (ids.length === 0) return new Map();
  await db.$pipeline([lockOf(db, 'assets', ids)]);
  const locked = new Map<number, Asset>();
  for (const chunk of chunksOf(ids, maxRead)) {
    const rows = await db.asset.findMany({ where: { id: { in: chunk } } });
    for (const row of rows) locked.set(Number(row.id), presentAsset(row));
  }
  return locked;
}

/** Records the activities of new assets, and emits `asset.created` for each. */
async function announce(context: Context & Transaction, assets: Asset[]): Promise<void> {
  await record(context, { resource: 'ASSET', ids: assets.map(({ id }) => id), action: 'CREATED' });
  for (const chunk of chunksOf(assets, maxEvents)) {
    await emitAll(
      context,
      'asset.created',
      chunk.map((payload) => ({ payload })),
    );
  }
}
