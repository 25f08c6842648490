import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../shared/context.ts';

/** The types of objects that audit entries refer to. */
export const auditTargetTypes = [
  'user',
  'team',
  'category',
  'form',
  'key',
  'webhook',
  'workspace',
  'field',
  'ticket',
  'comment',
  'asset',
  'project',
  'article',
  'delivery',
  'proposal',
] as const;

/** The changed object. The id is undefined if the action changed several objects, such as an import. */
export interface AuditTarget {
  type: (typeof auditTargetTypes)[number];
  id?: number | bigint | string | undefined;
}

/**
 * The changed fields with their values before and after the change. Null instead of the values if the log stores only
 * that the field changed, for example because its value is personal data or a secret (docs/decisions/audit-log.md).
 */
export type AuditChanges = Record<string, { from: unknown; to: unknown } | null>;

/** The part of a context that identifies the tenant and the actor of an audit entry. */
export type AuditContext = Pick<Context, 'db' | 'userId' | 'keyId' | 'from' | 'osUser'>;

export interface NewAuditEntry {
  /** The name of the action, such as `key.created`. */
  action: string;
  target: AuditTarget;
  /** What changed. If the object is empty, nothing changed, and the log gets no entry. */
  changes?: AuditChanges | undefined;
}

/**
 * Records a change in the audit log. Functions that change users, keys, webhooks or settings call this function in the
 * transaction of the change, so the API, the developer area and the command line record the same entries.
 */
export async function recordAudit(context: AuditContext, entry: NewAuditEntry): Promise<void> {
  if (entry.changes !== undefined && Object.keys(entry.changes).length === 0) return;
  await context.db.auditEntry.createMany({ data: [auditRow(context, entry)] });
}

/** Returns the database row of an audit entry, without the tenant. */
export function auditRow(
  { userId, keyId, from, osUser }: Omit<AuditContext, 'db'>,
  { action, target, changes }: NewAuditEntry,
) {
  const { address, userAgent } = from?.() ?? { address: '', userAgent: '' };
  return {
    ...{ userId: userId ?? null, keyId: keyId ?? null, osUser: osUser ?? null, action },
    targetType: target.type,
    ...(typeof target.id === 'string' ? { targetKey: target.id } : { targetId: target.id ?? null }),
    ...(changes !== undefined && { changes: changes as Record<string, { from: string; to: string } | null> }),
    ...{ address, userAgent: userAgent.slice(0, maxUserAgentLength) },
  };
}

/** The maximum number of characters that an entry stores of a user agent. */
export const maxUserAgentLength = 500;

/**
 * Compares two versions of an object.
 * @param before the object before the change, or an empty object if it is new
 * @param stored the fields whose values the log stores
 * @param nameOnly the fields of which the log stores only that they changed
 */
export function auditChanges<Row extends object>(
  before: Partial<Row>,
  after: Row,
  stored: readonly (keyof Row & string)[],
  nameOnly: readonly (keyof Row & string)[] = [],
): AuditChanges {
  const changes: AuditChanges = {};
  for (const name of [...stored, ...nameOnly]) {
    const [from, to] = [before[name] ?? null, after[name] ?? null];
    if (!isDeepStrictEqual(from, to)) changes[name] = nameOnly.includes(name) ? null : { from, to };
  }
  return changes;
}
