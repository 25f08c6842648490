import { ApiError } from './errors.ts';

/** The value of `If-Match` or `If-None-Match`: a list of entity tags, or `*` for any entity tag. */
export type Etags = readonly string[] | '*';

/** The values that, together with `updatedAt`, form the entity tag of a resource. */
interface Version {
  /** The row version. Each change by a client increments it. */
  version: number;
  /** Timestamps that the server updates without incrementing the version. */
  touched: readonly (string | null)[];
}

const versions = new WeakMap<object, Version>();

/**
 * Stores the row version of a resource in memory, so that `etagOf` can return the entity tag. Returns the resource.
 * @param touched the values of timestamp fields that the server updates without incrementing the version
 */
export function withVersion<Resource extends { updatedAt: string }>(
  version: number,
  resource: Resource,
  touched: Version['touched'] = [],
): Resource {
  versions.set(resource, { version, touched });
  return resource;
}

/**
 * Returns the entity tag of a resource, or undefined if the resource has no version
 * (docs/decisions/optimistic-concurrency.md). The tag includes `updatedAt`, because version numbers can repeat after
 * the database is restored.
 */
export function etagOf(resource: object): string | undefined {
  const parts = getTagParts(resource);
  return parts && `"${[parts.written, ...parts.touched].join('-')}"`;
}

/**
 * Returns the parts of the entity tag. The `If-Match` check uses only `written`, which changes whenever a client writes
 * the resource.
 */
function getTagParts(resource: object): { written: string; touched: string[] } | undefined {
  const known = versions.get(resource);
  if (known === undefined) return undefined;
  const inBase36 = (time: string | null) => (time === null ? '' : Date.parse(time).toString(36));
  const { updatedAt } = resource as { updatedAt: string };
  return { written: `${known.version}-${inBase36(updatedAt)}`, touched: known.touched.map(inBase36) };
}

const tag = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/**
 * Parses the entity tags in a header. Weak tags keep their prefix `W/`. Returns undefined if the header violates RFC
 * 9110 §13.1.
 */
export function parseEtags(header: string): Etags | undefined {
  if (header.trim() === '*') return '*';
  const between = header.replace(tag, '');
  return /^[\s,]*$/.test(between) ? (header.match(tag) ?? undefined) : undefined;
}

/**
 * Returns true if a header contains the entity tag, according to weak comparison. Returns false if the header is
 * invalid.
 */
export function includesEtag(header: string, entityTag: string): boolean {
  const tags = parseEtags(header) ?? [];
  return tags === '*' || tags.some((each) => each === entityTag || each === `W/${entityTag}`);
}

/**
 * Checks that `If-Match` contains the entity tag of a resource. The caller must lock the row before it reads the
 * resource. Uses strong comparison, so weak tags never match. Ignores timestamps that the server updates without
 * incrementing the version.
 * @throws ApiError PRECONDITION_FAILED
 */
export function requireMatch(ifMatch: Etags | undefined, resource: object): void {
  if (ifMatch === undefined || ifMatch === '*') return;
  const { written, touched } = getTagParts(resource) ?? { touched: [] };
  const prefix = touched.length > 0 ? `"${written}-` : `"${written}"`;
  if (ifMatch.some((each) => each.startsWith(prefix))) return;
  throw new ApiError(
    'PRECONDITION_FAILED',
    "The resource has changed: `If-Match` doesn't match its current `ETag`. " +
      'Get the resource again, check your change, and retry with the new `ETag`.',
  );
}
