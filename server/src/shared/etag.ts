import { ApiError } from './errors.ts';

/** What `If-Match` or `If-None-Match` names: entity tags, or whatever is there. */
export type Etags = readonly string[] | '*';

/** What entity tags are made of. It is no field of a resource: nothing carries it but the `ETag`. */
interface Version {
  /** That of the row, which moves with what somebody changes of it. */
  version: number;
  /** Times that the service notes of it by itself. */
  noted: readonly (string | null)[];
}

const versions = new WeakMap<object, Version>();

/**
 * A resource that remembers the version of its row.
 * @param noted its fields, times, that the service writes by itself without a new version
 */
export function withVersion<Resource extends { updatedAt: string }>(
  version: number,
  resource: Resource,
  noted: Version['noted'] = [],
): Resource {
  versions.set(resource, { version, noted });
  return resource;
}

/**
 * The entity tag of a resource as it was read (docs/decisions/optimistic-concurrency.md); undefined for what has no version. The
 * time is part of it, since in a database that was restored the same versions come again.
 */
export function etagOf(resource: object): string | undefined {
  const parts = partsOf(resource);
  return parts && `"${[parts.written, ...parts.noted].join('-')}"`;
}

/** What the tag is joined from: what names the state that somebody has brought the resource into comes first. */
function partsOf(resource: object): { written: string; noted: string[] } | undefined {
  const known = versions.get(resource);
  if (known === undefined) return undefined;
  const inBase36 = (time: string | null) => (time === null ? '' : Date.parse(time).toString(36));
  const { updatedAt } = resource as { updatedAt: string };
  return { written: `${known.version}-${inBase36(updatedAt)}`, noted: known.noted.map(inBase36) };
}

const tag = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** The entity tags of a header, weak ones with their `W/`; undefined when it is none of RFC 9110 §13.1. */
export function parseEtags(header: string): Etags | undefined {
  if (header.trim() === '*') return '*';
  const between = header.replace(tag, '');
  return /^[\s,]*$/.test(between) ? (header.match(tag) ?? undefined) : undefined;
}

/** Whether a header names the entity tag, by the weak comparison. One that can't be read names none. */
export function names(header: string, entityTag: string): boolean {
  const tags = parseEtags(header) ?? [];
  return tags === '*' || tags.some((each) => each === entityTag || each === `W/${entityTag}`);
}

/**
 * Holds a change to the state that the caller knows: to be asked of the resource as it was read under its row's lock.
 * By the strong comparison, in which a weak tag is never the same; what the service has noted by itself since then keeps
 * nobody from changing what he knows.
 * @throws ApiError PRECONDITION_FAILED
 */
export function requireMatch(ifMatch: Etags | undefined, resource: object): void {
  if (ifMatch === undefined || ifMatch === '*') return;
  const { written, noted } = partsOf(resource) ?? { noted: [] };
  const beginning = noted.length > 0 ? `"${written}-` : `"${written}"`;
  if (ifMatch.some((each) => each.startsWith(beginning))) return;
  throw new ApiError(
    'PRECONDITION_FAILED',
    "`If-Match` doesn't match the current `ETag`. Fetch the resource again and retry.",
  );
}
