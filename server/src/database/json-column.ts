/**
 * Wraps a value for a JSON column, so that Prisma stores it unchanged. In plain objects, Prisma would interpret some
 * keys as its own, such as `__prismaRawParameters__`.
 */
export function json<Value extends object>(value: Value): Value {
  return { toJSON: () => ({ $type: 'Json', value: JSON.stringify(value) }) } as unknown as Value;
}
