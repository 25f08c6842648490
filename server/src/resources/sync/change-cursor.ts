import { createHash } from 'node:crypto';
import { invalidField } from '../../shared/errors.ts';
import type { TenantId } from '../../shared/tenant-id.ts';

/** The change feed that a cursor belongs to. */
interface Feed {
  tenantId: TenantId;
  /** The name of the table whose changes the feed contains. */
  resource: string;
}

/** The position of a changed row in the change feed. */
export interface CursorPosition {
  position: number;
  id: number;
}

/**
 * The position of a client in the feed. A position is valid only in its epoch, which is a run of the PostgreSQL server
 * (docs/decisions/change-feed.md).
 */
interface Cursor extends CursorPosition {
  /** The start time of the epoch, in microseconds since 1970, as text. */
  startedAt: string;
}

/** The version of the cursor format. */
const version = 1;
const checkLength = 12;

/** Serializes a cursor as a checksum and its content. Only the checksum depends on the tenant and the resource. */
export function writeCursor(feed: Feed, { startedAt, position, id }: Cursor): string {
  return computeChecksum(feed, [version, startedAt, position, id].join('.'));
}

/** Parses a cursor. @throws ApiError VALIDATION_ERROR if it was modified, or belongs to another tenant or resource */
export function readCursor(feed: Feed, text: string): Cursor {
  const content = Buffer.from(text.slice(checkLength), 'base64url').toString();
  const [, startedAt, position, id] = /^1\.(\d{1,18})\.(-?\d{1,16})\.(\d{1,16})$/.exec(content) ?? [];
  if (startedAt === undefined || text !== computeChecksum(feed, content)) {
    throw invalidField(
      'VALIDATION_ERROR',
      'cursor',
      'is not a `nextCursor` of this change feed. Start again with `since`, set to the time of your last sync.',
    );
  }
  return { startedAt, position: Number(position), id: Number(id) };
}

/**
 * Returns the content of a cursor with a checksum in front. The checksum needs no secret, because a client with a
 * forged cursor gets only data that it can request anyway.
 */
function computeChecksum({ tenantId, resource }: Feed, content: string): string {
  const hash = createHash('sha256').update(`${tenantId} ${resource} ${content}`).digest('base64url');
  return hash.slice(0, checkLength) + Buffer.from(content).toString('base64url');
}
