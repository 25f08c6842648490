import { type ErrorDetail, numberFromText } from '@itsm-api/contract';
import { toNameKey } from '../resources/shared/name-key.ts';
import { ApiError } from '../shared/errors.ts';
import { validationError } from '../shared/validation.ts';
import type { ArgumentKind, ArgumentPlace } from './input-schema.ts';
import { type Found, formatRow, type NamedKind } from './name-lookup.ts';

export type Arguments = Record<string, unknown>;

/** The maximum number of different names in a tool call. Each name needs a query. */
const maxNames = 20;

/** The maximum number of similar resources that an error shows for each name. */
const maxSimilar = 10;

/** The error for names that identify no resource or several. */
export class NameError extends ApiError {
  /** The resources with these names or similar ones, as text. */
  readonly rows: readonly string[];

  constructor(details: ErrorDetail[], rows: readonly string[]) {
    super('INVALID_REFERENCE', validationError(details).message, { details });
    this.rows = rows;
  }
}

/**
 * Converts the arguments of a tool to those of its endpoint: a unique name to an id, an id as text to a number, and a
 * date without a time to 00:00 UTC.
 * @param lookUp finds the resources with a name, or returns undefined if the endpoint has to check the value
 * @throws ApiError INVALID_REFERENCE, VALIDATION_ERROR
 */
export async function convertArguments(
  places: readonly ArgumentPlace[],
  given: Arguments,
  lookUp: (kind: NamedKind, name: string) => Promise<(Found & { matches: Found['rows'] }) | undefined>,
): Promise<Arguments> {
  const args = mapPlaces(places, given, ({ kind }, value) =>
    kind === 'time' ? toTimestamp(value) : toId(kind, value),
  );
  const names = new Map<string, { kind: NamedKind; name: string; path: string }>();
  mapPlaces(places, args, ({ kind, path }, value) => {
    if (kind === 'ticket' || kind === 'time' || typeof value !== 'string' || !isName(kind, value)) return value;
    names.set(keyOf(kind, value), { kind, name: value, path: path.filter((part) => part !== '*').join('.') });
    return value;
  });
  if (names.size > maxNames) {
    throw new ApiError(
      'VALIDATION_ERROR',
      `The call contains more than ${maxNames} different names. Send ids instead.`,
    );
  }
  const ids = new Map<string, unknown>();
  const faults: ErrorDetail[] = [];
  const rows: string[] = [];
  for (const [key, { kind, name, path }] of names) {
    const found = await lookUp(kind, name);
    if (found?.matches.length === 1 && !found.hasMore) ids.set(key, found.matches[0]?.id);
    else if (found !== undefined && (kind !== 'category' || found.matches.length > 0)) {
      const { matches } = found;
      faults.push({ path, message: describeFault(kind, found) });
      const shown = matches.length > 0 ? matches : found.rows;
      rows.push(...shown.slice(0, maxSimilar).map((row) => formatRow(kind, row)));
    }
  }
  if (faults.length > 0) throw new NameError(faults, rows);
  return mapPlaces(places, args, ({ kind }, value) => ids.get(keyOf(kind, String(value))) ?? value);
}

function describeFault(kind: NamedKind, { matches, hasMore }: Found & { matches: Found['rows'] }): string {
  if (matches.length > 1) return `matches more than one ${kind}. Send the id of one of them.`;
  if (hasMore) return `is too common to identify the ${kind}. Send its id.`;
  return `matches no ${kind}. Find the ${kind} with ${kind === 'asset' ? 'list_assets' : 'search_names'}, then send its id.`;
}

/** Returns true if a value is neither an id nor another reference that the endpoint accepts, nor a list of these. */
function isName(kind: NamedKind, value: string): boolean {
  const isReference = (text: string) => /^(\d+|me|none)$/.test(text) || (kind === 'user' && text.includes('@'));
  return !value.split(',').every(isReference);
}

function keyOf(kind: ArgumentKind, name: string): string {
  return `${kind} ${toNameKey(name)}`;
}

function toId(kind: ArgumentKind, value: unknown): unknown {
  return typeof value === 'string' && kind !== 'category' ? numberFromText(value) : value;
}

function toTimestamp(value: unknown): unknown {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00:00Z` : value;
}

/** Returns a copy of arguments in which `change` has replaced the values at the places. */
function mapPlaces(
  places: readonly ArgumentPlace[],
  args: Arguments,
  change: (place: ArgumentPlace, value: unknown) => unknown,
): Arguments {
  return places.reduce(
    (changed, place) => mapAt(changed, place.path, (value) => change(place, value)) as Arguments,
    args,
  );
}

/** A filter with one value can be that value instead of a list. */
function mapAt(value: unknown, [field, ...rest]: readonly string[], change: (value: unknown) => unknown): unknown {
  if (field === '*')
    return Array.isArray(value) ? value.map((each) => mapAt(each, rest, change)) : mapAt(value, rest, change);
  if (field === undefined) return change(value);
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return value;
  return { ...value, [field]: mapAt((value as Arguments)[field], rest, change) };
}
