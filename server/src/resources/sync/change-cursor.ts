import { createHash } from 'node:crypto';
import { invalidField } from '../../shared/errors.ts';
import type { TenantId } from '../../shared/tenant-id.ts';

/** The change feed that a cursor belongs to. */
interface Feed {
  tenantId: TenantId;
  /** The name of the table that the feed tracks. */
  resource: string;
}

/** The position of a changed row in the change feed. */
export interface CursorPosition {
  position: number;
  id: number;
}

/**
 * A client's position in the change feed. The position is valid only in one epoch. A new epoch begins when PostgreSQL
 * restarts or recovers (docs/decisions/change-feed.md).
 */
interface Cursor extends CursorPosition {
  /** The start time of the epoch as text, in microseconds since 1970. */
  startedAt: string;
}

/** The version of the cursor format. */
const version = 1;
const checkLength = 12;

/**
 * Serializes a cursor. The text consists of a checksum and the cursor's content. Only the checksum depends on the
 * tenant and the resource.
 */
export function writeCursor(feed: Feed, { startedAt, position, id }: Cursor): string {
  return computeChecksum(feed, [version, startedAt, position, id].join('.'));
}

/**
 * Parses a cursor.
 * @throws ApiError VALIDATION_ERROR if the cursor was modified, or if it is for another tenant or resource
 */
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
 * Adds a checksum before the content of a cursor. The checksum needs no secret, because a client with a forged cursor
 * can read only data that it has access to anyway.
 */
function computeChecksum({ tenantId, resource }: Feed, content: string): string {
  const hash = createHash('sha256').update(`${tenantId} ${resource} ${content}`).digest('base64url');
  return hash.slice(0, checkLength) + Buffer.from(content).toString('base64url');
}
