import type { PageQuery } from '@itsm-api/contract';
import { serializeId, serializeTimestamp } from '../../shared/serialize.ts';
import type { Context } from '../shared/context.ts';
import { type Page, readPage } from '../shared/lists.ts';

/** An audit log entry for an action in the developer area or on the command line. */
export interface AuditEntry {
  id: number;
  at: string;
  /** The user who made the change. Null if the change was made on the command line. */
  user: { id: number; name: string } | null;
  /** The name of the action, such as `key.created`. */
  action: string;
  /** The display name of the changed object. */
  subject: string | null;
  /** The IP address of the client. Empty if the change was made on the command line. */
  address: string;
  userAgent: string;
}

export interface AuditQuery extends PageQuery {
  userId?: number | undefined;
  action?: string | undefined;
}

/** Records an action in the audit log. Call this function in the transaction that makes the change. */
export async function recordAudit(
  { db, userId }: Pick<Context, 'db' | 'userId'>,
  { action, subject, address, userAgent }: Pick<AuditEntry, 'action' | 'subject' | 'address' | 'userAgent'>,
): Promise<void> {
  await db.auditEntry.createMany({
    data: [{ userId: userId ?? null, action, subject, address, userAgent: userAgent.slice(0, 500) }],
  });
}

/** Returns a page of the audit log, newest first. */
export async function listAudit({ db }: Context, { userId, action, ...page }: AuditQuery): Promise<Page<AuditEntry>> {
  const where = { ...(userId !== undefined && { userId }), ...(action !== undefined && { action }) };
  return readPage(page, {
    count: () => db.auditEntry.count({ where }),
    find: async (range) => {
      const rows = await db.auditEntry.findMany({ where, orderBy: { id: 'desc' }, ...range });
      const ids = [...new Set(rows.flatMap((row) => row.userId ?? []))];
      const users = await db.user.findMany({ where: { id: { in: ids } }, select: { id: true, name: true } });
      const names = new Map(users.map(({ id, name }) => [id, name]));
      return rows.map(({ id, at, userId, action, subject, address, userAgent }) => ({
        id: serializeId(id),
        at: serializeTimestamp(at),
        user: userId === null ? null : { id: serializeId(userId), name: names.get(userId) ?? `user ${userId}` },
        ...{ action, subject, address, userAgent },
      }));
    },
  });
}
