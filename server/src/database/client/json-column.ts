import { Prisma } from '../../../generated/prisma/client.ts';

/**
 * Wraps a value for a JSON column, so Prisma stores it unchanged. Without the wrapper, Prisma treats some keys of plain
 * objects as special, such as `__prismaRawParameters__`.
 */
export function json<Value extends object>(value: Value): Value {
  return { toJSON: () => ({ $type: 'Json', value: JSON.stringify(value) }) } as unknown as Value;
}

/** The value NULL for a JSON column. In Prisma, `null` would be ambiguous with the JSON value null. */
export const dbNull = Prisma.DbNull;
