import type { ErrorCode } from '@itsm-api/contract';

/* Models import keys (docs/decisions/imports.md). */

/** The fields that only an import key can set. */
export interface ImportFields {
  status?: string | undefined;
  authorId?: number | undefined;
  createdAt?: string | undefined;
  resolvedAt?: string | undefined;
  closedAt?: string | undefined;
}

/** Returns the expected error codes for the import fields of a new ticket or comment. */
export function importRejections(input: ImportFields, { isImport }: { isImport: boolean }): ErrorCode[] {
  const { status, authorId, createdAt, resolvedAt, closedAt } = input;
  const times = [createdAt, resolvedAt, closedAt].filter((time) => time !== undefined);
  if (status === undefined && authorId === undefined && times.length === 0) return [];
  const isValid =
    isImport &&
    times.every((time, index) => Date.parse(time) <= Date.now() && time >= (times[index - 1] ?? '')) &&
    (createdAt !== undefined || times.length === 0) &&
    (resolvedAt === undefined || status === 'RESOLVED' || status === 'CLOSED') &&
    (closedAt === undefined || status === 'CLOSED');
  return isValid ? [] : ['VALIDATION_ERROR'];
}
