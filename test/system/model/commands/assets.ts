import type { Asset, AssetPatch, ErrorCode, NewAsset } from '@itsm-api/contract';
import fc from 'fast-check';
import { changeAsset, isAssetIn, newAsset } from '../resources/assets.ts';
import { mergeFields } from '../resources/rows.ts';
import { changed, conditionalReadStep, itemOf, made, type RowResponse, readStep } from '../steps.ts';
import type { Turn } from '../turn.ts';
import { isRejection } from '../world.ts';
import {
  customFields,
  externalId,
  filterOf,
  missingId,
  normalizedTag,
  paging,
  place,
  question,
  seldom,
  sending,
  some,
  tagChanges,
  tags,
  user,
  userId,
  words,
} from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList, noteList } from './lists.ts';
import { noteTag, noteTaken, tagOf } from './tickets.ts';

const type = fc.constantFrom('LAPTOP', 'DESKTOP', 'SERVER', 'MOBILE', 'OTHER');
const status = fc.constantFrom(
  'ON_ORDER',
  'IN_STOCK',
  'IN_TRANSIT',
  'IN_USE',
  'MAINTENANCE',
  'RETIRED',
  'DISPOSED',
  'LOST',
);
const fields = {
  serialNumber: fc.option(words),
  type,
  status,
  manufacturer: fc.option(words),
  location: fc.option(words),
  holder: user,
  purchaseDate: fc.option(fc.constantFrom('2025-03-14', '2026-01-31')),
  purchaseCost: fc.option(fc.constantFrom('1499', '0.5', '12.30', '0')),
  warrantyExpiresAt: fc.option(fc.constantFrom('2028-03-14T00:00:00.000Z', '2027-01-01T12:00:00.000Z')),
  notes: fc.option(words),
  customFields,
};
const upsertFields = { name: words, ...fields, tags, externalId: fc.option(externalId) };
export const assetPatchGiven = some({ name: words, ...fields, tagChanges, externalId: fc.option(externalId) });
const newFields = { name: words, ...fields, tags, externalId: seldom(externalId) };
const newGiven = fc.record(newFields, { requiredKeys: ['name', 'type'], noNullPrototype: true });
const queryGiven = fc.record({
  ...paging,
  status: filterOf(status),
  type: filterOf(type),
  holders: filterOf(user),
  externalId: filterOf(externalId),
  tag: filterOf(normalizedTag),
  q: seldom(question),
});

function withHolder<Input extends { holder?: Parameters<typeof userId>[1] }>(turn: Turn, { holder, ...body }: Input) {
  return { ...body, ...(holder && { assignedToId: userId(turn, holder) }) };
}

type AssetPatchInput = typeof assetPatchGiven extends fc.Arbitrary<infer Input> ? Input : never;

export function assetPatch(turn: Turn, { tagChanges, ...fields }: AssetPatchInput): AssetPatch {
  return { ...(withHolder(turn, fields) as AssetPatch), ...tagChanges };
}

const withTag = fc.option(fc.nat(2), { nil: undefined, freq: 3 });

/** Notes the response to a request that creates an asset. @param options.codes other codes of its rejection */
function noteNew(
  turn: Turn,
  reported: RowResponse,
  body: NewAsset,
  { marker, codes: others = [] }: { marker: string; codes?: ErrorCode[] },
): void {
  const { world, workspace, references, actor } = turn;
  const { sent, answer } = reported;
  const outcome = newAsset(body, references);
  const codes = [...('codes' in outcome ? outcome.codes : []), ...others];
  if ('codes' in outcome || codes.length > 0) {
    if (answer !== undefined) world.expect(isRejection(answer, codes), 'an invalid asset was not rejected', sent);
    return;
  }
  const { row } = outcome;
  if (answer === undefined) {
    const step = (id: number) => ({ ...made(reported, { row, actor, id }), isCertain: true });
    workspace.assets.creations.push({ marker, request: turn.number, step });
    return;
  }
  world.expect(answer.status === 201, 'an asset was not created', sent);
  const asset = answer.body?.data as Asset | undefined;
  if (asset === undefined) return;
  workspace.assets.of(asset.id).steps.push(made(reported, { row, actor, id: asset.id }));
  workspace.assets.know(asset.id);
}

/** Notes the response to a request that changes an asset. */
function noteChange(
  { workspace: { assets }, references, actor }: Turn,
  reported: RowResponse,
  { id, ifMatch, body }: { id: number; ifMatch?: string | undefined; body: AssetPatch },
): void {
  const isTaken = noteTaken(assets, reported, body);
  const change = (row: Asset) => changeAsset(row, body, references);
  assets.of(id).steps.push(changed<Asset>(reported, { actor, ifMatch, change, mayBeRejected: () => isTaken }));
}

/** An item of an upsert: a new asset with a marker as its tag, or the changes of a known asset. */
type Upsert = { body: object } & ({ id: number; marker?: never } | { marker: string; id?: never });

const upsertGiven = fc.record({ isNew: fc.boolean(), place, asset: newGiven, patch: some(upsertFields) });

/** Notes the result of an item with a new tag. Unlike `POST /assets`, an upsert leaves out custom fields that are null. */
function noteUpserted(turn: Turn, reported: RowResponse, { customFields, ...body }: NewAsset, marker: string): void {
  if (noteTaken(turn.workspace.assets, reported, body)) return;
  noteNew(turn, reported, { ...body, customFields: mergeFields({}, customFields ?? {}) }, { marker });
}

export const assets = {
  list: kind(4, queryGiven, async (turn, { holders, ...given }) => {
    const query = { ...given, assignedToId: holders?.map((each) => userId(turn, each) ?? missingId) };
    const sent = await askList(turn, 'assets.list', query);
    noteList(turn, turn.workspace.assets, sent, { query, isIn: (row) => isAssetIn(row, query) });
  }),

  get: kind(4, fc.record({ place, tag: withTag, isForeign: fc.nat(19) }), async (turn, { place, tag, isForeign }) => {
    if (isForeign === 0) return askForeign(turn, 'assets.get', { id: turn.other.assets.pick(place) });
    const { assets } = turn.workspace;
    const id = assets.pick(place);
    if (id === undefined) return;
    const etag = tagOf(assets.of(id), tag);
    const sent = await turn.ask('assets.get', { params: { id }, ...(etag && { headers: { 'if-none-match': etag } }) });
    if (sent?.answer === undefined) return;
    noteTag(assets.of(id), sent.answer);
    if (etag !== undefined) assets.of(id).steps.push(conditionalReadStep(sent, etag));
    else assets.of(id).steps.push(readStep(sent, sent.answer.body?.data ?? {}));
  }),

  create: kind(
    5,
    fc.record({ given: newGiven, sending, isTaken: fc.nat(9), place }),
    async (turn, { given, sending, isTaken, place }) => {
      const { workspace } = turn;
      const marker = `LT-c${turn.number}`;
      const taken = isTaken === 0 ? workspace.assets.pick(place) : undefined;
      // An asset tag never changes, so the tag in the last known state is the current tag.
      const tag = (taken && workspace.assets.of(taken).state?.row.assetTag) || marker;
      const body = { ...withHolder(turn, given), assetTag: tag } as NewAsset;
      const sent = await turn.ask('assets.create', { body, sending, other: { ...body, notes: 'Another.' } });
      if (sent === undefined) return;
      const { answer } = sent;
      if (noteTaken(workspace.assets, { sent, answer }, body)) return;
      noteNew(turn, { sent, answer }, body, { marker, codes: tag === marker ? [] : ['VALIDATION_ERROR'] });
    },
  ),

  upsertMany: kind(
    4,
    fc.record({ many: fc.array(upsertGiven, { minLength: 1, maxLength: 8 }), byExternalId: fc.boolean(), sending }),
    async (turn, { many, byExternalId, sending }) => {
      const { assets } = turn.workspace;
      const upserts = many.flatMap(({ isNew, place, asset, patch }, index): Upsert[] => {
        const marker = `LT-c${turn.number}.${index}`;
        if (isNew && !byExternalId) return [{ marker, body: { ...withHolder(turn, asset), assetTag: marker } }];
        const id = assets.pick(place);
        const { assetTag, externalId } = (id && assets.of(id).state?.row) || {};
        const match = byExternalId ? externalId && { externalId } : assetTag && { assetTag };
        return id !== undefined && match ? [{ id, body: { ...withHolder(turn, patch), ...match } }] : [];
      });
      const unique = [...new Map(upserts.map((upsert) => [upsert.id ?? upsert.marker, upsert])).values()];
      if (unique.length === 0) return;
      const items = unique.map(({ body }) => body);
      const matchBy = byExternalId ? { matchBy: 'externalId' } : {};
      const other = { assets: [...items.slice(1), { ...items[0], notes: 'Another.' }], ...matchBy };
      const sent = await turn.ask('assets.upsertMany', { body: { assets: items, ...matchBy }, sending, other });
      if (sent === undefined) return;
      for (const [index, { id, marker, body }] of unique.entries()) {
        const reported = { sent, answer: sent.answer && itemOf(sent.answer, index) };
        if (marker !== undefined) noteUpserted(turn, reported, body as NewAsset, marker);
        else noteChange(turn, reported, { id, body: body as AssetPatch });
      }
    },
  ),

  update: kind(
    8,
    fc.record({ place, patch: assetPatchGiven, tag: withTag, isForeign: fc.nat(29) }),
    async (turn, { place, patch, tag, isForeign }) => {
      if (isForeign === 0) {
        return askForeign(turn, 'assets.update', { id: turn.other.assets.pick(place), body: { name: 'Seized' } });
      }
      const { assets } = turn.workspace;
      const id = assets.pick(place);
      if (id === undefined) return;
      const body = assetPatch(turn, patch);
      const ifMatch = tagOf(assets.of(id), tag);
      const sent = await turn.ask('assets.update', {
        params: { id },
        body,
        ...(ifMatch && { headers: { 'if-match': ifMatch } }),
      });
      if (sent === undefined) return;
      const reported = { sent, answer: sent.answer };
      noteChange(turn, reported, { id, ifMatch, body });
      noteTag(assets.of(id), sent.answer);
    },
  ),
};
