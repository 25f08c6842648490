import type { PageQuery } from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { serializeId, serializeTimestamp } from '../../shared/serialize.ts';
import type { Context } from '../shared/context.ts';
import type { AuditChanges, AuditTarget } from './audit-entry.ts';

/** An entry of the audit log (docs/decisions/audit-log.md). */
export interface AuditEntry {
  id: number;
  /** When the change was made. For failed sign-ins, the time of the first of them. */
  at: string;
  /** The user who made the change. Null if the change was made on the command line. */
  userId: number | null;
  /** The API key that made the change, or null if the change wasn't made by API. */
  keyId: number | null;
  /** The operating-system user who made the change. Null if the change wasn't made on the command line. */
  osUser: string | null;
  /** The name of the action, such as `key.created`. */
  action: string;
  /** The type of the changed object. Null only for entries of earlier releases. */
  targetType: string | null;
  targetId: number | string | null;
  changes: AuditChanges | null;
  /** How often the action happened. Only entries for failed sign-ins count more than one action. */
  count: number;
  /** The display name of the changed object. Null except for entries of earlier releases whose user isn't erased. */
  subject: string | null;
  /** The IP address of the client. Empty if the change was made on the command line. */
  address: string;
  userAgent: string;
}

/** The filters of the audit log. Entries match if they match all filters. */
export interface AuditFilter {
  userId?: number | undefined;
  osUser?: string | undefined;
  action?: string | undefined;
  targetType?: AuditTarget['type'] | undefined;
  targetId?: number | undefined;
  since?: Date | undefined;
  /** The first time that doesn't match. */
  until?: Date | undefined;
}

/**
 * Converts the text of an actor to filters. The actor is the id or the email address of a user, or the name of an
 * operating-system user.
 */
export async function findActor(
  { db }: Pick<Context, 'db'>,
  actor: string | undefined,
): Promise<Pick<AuditFilter, 'userId' | 'osUser'>> {
  if (actor === undefined) return {};
  if (/^\d{1,15}$/.test(actor)) return { userId: Number(actor) };
  const user = await db.user.findFirst({ where: { email: actor }, select: { id: true } });
  return user === null ? { osUser: actor } : { userId: serializeId(user.id) };
}

/** Returns a page of the audit log, newest first, and whether older entries follow. */
export async function listAudit(
  { db }: Pick<Context, 'db'>,
  { page, perPage, ...filter }: PageQuery & AuditFilter,
): Promise<{ data: AuditEntry[]; hasMore: boolean }> {
  const where = toWhere(filter);
  // With a filter by time, sorts by time first, so that PostgreSQL starts at the first matching entry.
  const byTime: Prisma.AuditEntryOrderByWithRelationInput[] = 'at' in where ? [{ at: 'desc' }] : [];
  const rows = await db.auditEntry.findMany({
    where,
    orderBy: [...byTime, { id: 'desc' }],
    skip: (page - 1) * perPage,
    take: perPage + 1,
  });
  return { data: rows.slice(0, perPage).map(presentEntry), hasMore: rows.length > perPage };
}

const batchSize = 1000;

/** Reads the entries that match the filters, oldest first. Yields batches of at most 1,000 entries. */
export async function* readAudit({ db }: Pick<Context, 'db'>, filter: AuditFilter): AsyncGenerator<AuditEntry[]> {
  const where = toWhere(filter);
  for (let after = 0n; ; ) {
    const rows = await db.auditEntry.findMany({
      where: { AND: [where, { id: { gt: after } }] },
      orderBy: { id: 'asc' },
      take: batchSize,
    });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(presentEntry);
    after = last.id;
  }
}

function toWhere({ userId, osUser, action, targetType, targetId, since, until }: AuditFilter) {
  return {
    ...(userId !== undefined && { userId }),
    ...(osUser !== undefined && { osUser }),
    ...(action !== undefined && { action }),
    ...(targetType !== undefined && { targetType }),
    ...(targetId !== undefined && { targetId }),
    ...((since !== undefined || until !== undefined) && {
      at: { ...(since !== undefined && { gte: since }), ...(until !== undefined && { lt: until }) },
    }),
  } satisfies Prisma.AuditEntryWhereInput;
}

function presentEntry(row: Prisma.AuditEntryGetPayload<object>): AuditEntry {
  const { action, targetType, count, subject, address, userAgent, osUser } = row;
  return {
    id: serializeId(row.id),
    at: serializeTimestamp(row.at),
    userId: serializeId(row.userId),
    keyId: serializeId(row.keyId),
    ...{ osUser, action, targetType, targetId: row.targetKey ?? serializeId(row.targetId) },
    changes: row.changes as AuditChanges | null,
    ...{ count, subject, address, userAgent },
  };
}
