import { createHash } from 'node:crypto';
import { invalidField } from '../../shared/errors.ts';
import type { TenantId } from '../../shared/tenant-id.ts';

/** Whose changes are followed. */
interface Followed {
  tenantId: TenantId;
  /** The table of the rows. */
  resource: string;
}

/** A row's place in the order of changes. */
export interface CursorPosition {
  position: number;
  id: number;
}

/** How far somebody has followed: to a place, as it was since a start of PostgreSQL (docs/decisions/change-feed.md). */
interface Cursor extends CursorPosition {
  /** Microseconds since 1970, as text. */
  startedAt: string;
}

/** The version of what follows it. */
const version = 1;
const checkLength = 12;

/** The cursor as the API gives it: a check, and what it checks. Whose it is stands in neither, and decides the check. */
export function writeCursor(followed: Followed, { startedAt, position, id }: Cursor): string {
  return seal(followed, [version, startedAt, position, id].join('.'));
}

/** Reads a cursor. @throws ApiError VALIDATION_ERROR for one that was changed, or given to somebody else or elsewhere */
export function readCursor(followed: Followed, text: string): Cursor {
  const content = Buffer.from(text.slice(checkLength), 'base64url').toString();
  const [, startedAt, position, id] = /^1\.(\d{1,18})\.(-?\d{1,16})\.(\d{1,16})$/.exec(content) ?? [];
  if (startedAt === undefined || text !== seal(followed, content)) {
    throw invalidField(
      'VALIDATION_ERROR',
      'cursor',
      'is not a `nextCursor` of this change feed. Start again with `since`, set to the time of your last sync.',
    );
  }
  return { startedAt, position: Number(position), id: Number(id) };
}

/** No secret takes part: whoever makes up a cursor is shown what they could have asked for. */
function seal({ tenantId, resource }: Followed, content: string): string {
  const hash = createHash('sha256').update(`${tenantId} ${resource} ${content}`).digest('base64url');
  return hash.slice(0, checkLength) + Buffer.from(content).toString('base64url');
}
