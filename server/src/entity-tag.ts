import { ApiError } from './errors.ts';

/** What `If-Match` or `If-None-Match` names: entity tags, or whatever is there. */
export type EntityTags = readonly string[] | '*';

/** The versions of the rows that resources were made of. They are no field: nothing carries them but the `ETag`. */
const versions = new WeakMap<object, number>();

/** A resource that remembers the version of its row. */
export function withVersion<Resource extends { updatedAt: string }>(version: number, resource: Resource): Resource {
  versions.set(resource, version);
  return resource;
}

/**
 * The entity tag of a resource as it was read (docs/decisions/concurrency.md); undefined for what has no version. The
 * time is part of it, since in a database that was restored the same versions come again.
 */
export function entityTagOf(resource: object): string | undefined {
  const version = versions.get(resource);
  if (version === undefined) return undefined;
  const { updatedAt } = resource as { updatedAt: string };
  return `"${version}-${Date.parse(updatedAt).toString(36)}"`;
}

const tag = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** The entity tags of a header, weak ones with their `W/`; undefined when it is none of RFC 9110 §13.1. */
export function readEntityTags(header: string): EntityTags | undefined {
  if (header.trim() === '*') return '*';
  const between = header.replace(tag, '');
  return /^[\s,]*$/.test(between) ? (header.match(tag) ?? undefined) : undefined;
}

/** Whether a header names the entity tag, by the weak comparison. One that can't be read names none. */
export function names(header: string, entityTag: string): boolean {
  const tags = readEntityTags(header) ?? [];
  return tags === '*' || tags.some((each) => each === entityTag || each === `W/${entityTag}`);
}

/**
 * Holds a change to the state that the caller knows: to be asked of the resource as it was read under its row's lock.
 * By the strong comparison, in which a weak tag is never the same.
 * @throws ApiError PRECONDITION_FAILED
 */
export function requireMatch(ifMatch: EntityTags | undefined, resource: object): void {
  if (ifMatch === undefined || ifMatch === '*') return;
  if (ifMatch.includes(entityTagOf(resource) ?? '')) return;
  throw new ApiError(
    'PRECONDITION_FAILED',
    '`If-Match` names another state than the one that this is in: it was changed meanwhile. Read it again.',
  );
}
