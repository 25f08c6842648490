import { ApiError } from './errors.ts';

/** The value of `If-Match` or `If-None-Match`: a list of entity tags, or `*` for any entity tag. */
export type Etags = readonly string[] | '*';

/** A resource with its entity tag (docs/decisions/optimistic-concurrency-design.md). */
export interface Versioned {
  etag: string;
}

/**
 * Sets the entity tag of a resource, and returns the resource. The tag includes `updatedAt`, because version numbers can
 * repeat after the database is restored.
 * @param version the row version, which each change by a client increments
 * @param touched the values of timestamp fields that the server updates without incrementing the version
 */
export function withEtag<Resource extends { updatedAt: string }>(
  version: number,
  resource: Resource,
  touched: readonly (string | null)[] = [],
): Resource & Versioned {
  let tag = `${version}-${Date.parse(resource.updatedAt).toString(36)}`;
  for (const time of touched) tag += time === null ? '-' : `-${Date.parse(time).toString(36)}`;
  // Changes the given object, because a copy of a ticket would take as long as its serialization.
  const versioned = resource as Resource & Versioned;
  versioned.etag = `"${tag}"`;
  return versioned;
}

/** What proxies add to the entity tag of a response that they compress: the prefix `W/`, or suffixes with the coding. */
const codingMarks = /^W\/|(?:[-;](?:gzip|br|zstd|deflate))+(?="$)/g;

/**
 * Returns true if a client's entity tag has the same version and `updatedAt` as the current one. Ignores the other
 * timestamps, but not whether the tags have them. Ignores the marks of proxies that compress.
 */
function hasSameVersion(given: string, current: string): boolean {
  const [parts, currentParts] = [given.replace(codingMarks, ''), current].map((each) =>
    each.slice(1, -1).split('-'),
  ) as [string[], string[]];
  return parts.length === currentParts.length && parts[0] === currentParts[0] && parts[1] === currentParts[1];
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
 * resource. Ignores timestamps that the server updates without incrementing the version, and the marks of proxies that
 * compress.
 * @throws ApiError PRECONDITION_FAILED
 */
export function requireMatch(ifMatch: Etags | undefined, resource: Versioned): void {
  if (ifMatch === undefined || ifMatch === '*') return;
  if (ifMatch.some((each) => hasSameVersion(each, resource.etag))) return;
  throw new ApiError(
    'PRECONDITION_FAILED',
    "The resource has changed: `If-Match` doesn't match its current `ETag`. " +
      'Get the resource again, check your change, and retry with the new `ETag`.',
  );
}
