/**
 * What is to stand in a column of JSON, as it is: in a bare object Prisma takes some names, such as `__prismaRawParameters__`,
 * for marks of its own, and stores something else.
 */
export function json<Value extends object>(value: Value): Value {
  return { toJSON: () => ({ $type: 'Json', value: JSON.stringify(value) }) } as unknown as Value;
}
