/**
 * Wraps a value for a JSON column, so that Prisma stores the value unchanged. Prisma gives some keys of plain objects a
 * special meaning, such as `__prismaRawParameters__`.
 */
export function json<Value extends object>(value: Value): Value {
  return { toJSON: () => ({ $type: 'Json', value: JSON.stringify(value) }) } as unknown as Value;
}
