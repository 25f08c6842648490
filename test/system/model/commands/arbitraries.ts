import type { TagChanges } from '@itsm-api/contract';
import fc, { type Arbitrary } from 'fast-check';
import type { PostMode, Turn } from '../turn.ts';

/*
 * Arbitraries for commands. A command references a row by its position in the list of known rows. The command therefore
 * stays valid when the run removes other commands to shorten a failing history.
 */

/** A relative position in a list of rows, from 0 (inclusive) to 1 (exclusive). */
export const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

const word = fc.constantFrom('vpn', 'printer', 'mail', 'laptop', 'badge', 'router', 'onboarding', 'backup');

export const words: Arbitrary<string> = fc.array(word, { minLength: 1, maxLength: 3 }).map((some) => some.join(' '));

/** Generates search terms. The last term can be a prefix of a word. */
export const question: Arbitrary<string> = fc
  .tuple(words, fc.nat(3))
  .map(([text, cut]) => text.slice(0, Math.max(2, text.length - cut)));

export const priority = fc.constantFrom('LOW', 'MEDIUM', 'HIGH', 'CRITICAL');

export const customFields = fc.dictionary(
  fc.constantFrom('site', 'floor', 'vip', 'tags'),
  fc.oneof(
    words,
    fc.integer({ min: -1000, max: 1000 }),
    fc.boolean(),
    fc.constant(null),
    fc.array(words, { maxLength: 2 }),
  ),
  { maxKeys: 3, noNullPrototype: true },
);

/** A reference to a user or a team. Most generated references are valid. */
export type UserRef = { kind: 'active' | 'inactive' | 'foreign' | 'missing' | 'none'; place: number };

export const user: Arbitrary<UserRef> = fc.record({
  kind: fc.oneof(
    { weight: 14, arbitrary: fc.constant('active' as const) },
    { weight: 4, arbitrary: fc.constant('none' as const) },
    { weight: 1, arbitrary: fc.constantFrom('inactive' as const, 'foreign' as const, 'missing' as const) },
  ),
  place,
});

/** A reference to a user whom an import key can reference. */
export const anyUser: Arbitrary<UserRef> = fc.record({
  kind: fc.constantFrom('active', 'active', 'inactive', 'inactive', 'none'),
  place,
});

/** External ids from a small set, so that many requests use one that a row already has. */
export const externalId = fc.nat(99).map((number) => `old:${number}`);

const tag = fc.constantFrom('vip', 'VIP', 'site:berlin', 'floor-3', 'straße', 'Straße');
export const tags: Arbitrary<string[]> = fc.array(tag, { maxLength: 3 });
/** A tag as the server stores it, for filters. */
export const normalizedTag = tag.map((each) => each.toLowerCase());

/** Generates the changes of tags in a patch, in all forms. */
export const tagChanges: Arbitrary<TagChanges> = fc.oneof(
  tags.map((tags) => ({ tags })),
  tags.map((addTags) => ({ addTags })),
  tags.map((removeTags) => ({ removeTags })),
  fc.shuffledSubarray(['vip', 'Site:Berlin', 'floor-3', 'straße']).map((mixed) => {
    return { addTags: mixed.slice(0, 2), removeTags: mixed.slice(2) };
  }),
);

/**
 * Returns the import fields of a command. Most keys aren't import keys, so they send the fields seldom.
 */
export function importFields<Fields extends object>({ key, number }: Turn, fields: Fields): Partial<Fields> {
  return key.isImport || number % 20 === 0 ? fields : {};
}

/** Returns how to send a request with comments. Its response determines which external ids were in use. */
export const answered = (sending: PostMode): PostMode => (sending === 'plain' ? 'keyed' : sending);

/** An id that no row has. */
export const missingId = 2 ** 45;

/** Returns the id of the referenced user, or null for the reference `none`. */
export function userId(turn: Turn, reference: UserRef): number | null {
  return idIn('users', turn, reference);
}

/** Returns the id of the referenced team, or null for the reference `none`. */
export function teamId(turn: Turn, reference: UserRef): number | null {
  return idIn('teams', turn, reference);
}

function idIn(rows: 'users' | 'teams', { workspace, other }: Turn, { kind, place }: UserRef): number | null {
  if (kind === 'none') return null;
  if (kind === 'missing') return missingId;
  const some =
    kind === 'foreign' ? other[rows] : workspace[rows].filter(({ active }) => active === (kind === 'active'));
  return some[Math.floor(place * some.length)]?.id ?? missingId;
}

/**
 * Generates objects with one to three of the given fields. With more fields per patch, the server would reject almost
 * every patch.
 */
export function some<Fields extends object>(fields: { [Name in keyof Fields]: Arbitrary<Fields[Name]> }) {
  const names = Object.keys(fields) as (keyof Fields)[];
  return fc
    .tuple(fc.record(fields), fc.subarray(names, { minLength: 1, maxLength: 3 }))
    .map(([all, kept]) => Object.fromEntries(kept.map((name) => [name, all[name]])) as Partial<Fields>);
}

/** Generates undefined in four of five cases, and otherwise a value of the given arbitrary. */
export function seldom<Value>(value: Arbitrary<Value>): Arbitrary<Value | undefined> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
}

/** Generates the values of a filter. */
export function valuesOf<Value>(value: Arbitrary<Value>): Arbitrary<Value[]> {
  return fc.uniqueArray(value, { minLength: 1, maxLength: 3 });
}

/** Generates the values of a filter, or undefined if the request doesn't use the filter. */
export function filterOf<Value>(value: Arbitrary<Value>): Arbitrary<Value[] | undefined> {
  return fc.option(valuesOf(value), { nil: undefined, freq: 2 });
}

export const sending = fc.constantFrom('plain', 'plain', 'plain', 'keyed', 'twice', 'again', 'other') as Arbitrary<
  'plain' | 'keyed' | 'twice' | 'again' | 'other'
>;

/** Arbitraries for the pagination parameters of a list. */
export const paging = {
  page: fc.constantFrom(1, 1, 1, 1, 2, 3),
  perPage: fc.constantFrom(1, 5, 20, 20, 100),
};
