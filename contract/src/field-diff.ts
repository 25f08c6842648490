import * as z from 'zod';

const before = { description: 'The value before the change.' };
const after = { description: 'The value after the change.' };

/** The value of one field before and after a change. */
const Change = z.object({ from: z.unknown().meta(before), to: z.unknown().meta(after) });

/** The changed fields of any resource, by field name. */
export const Changes = z.record(z.string(), Change).meta({
  id: 'Changes',
  description: 'The changed fields, by name.',
  example: { status: { from: 'OPEN', to: 'RESOLVED' } },
});
export type Changes = z.output<typeof Changes>;

type Changeable<Shape extends z.ZodRawShape> = {
  [Name in keyof Shape]: z.ZodOptional<z.ZodObject<{ from: Shape[Name]; to: Shape[Name] }>>;
};

/**
 * Returns the schema of a resource's changes: the value of each changed field before and after the update. The schema
 * accepts unknown fields, because later releases can add fields.
 * @param fields the fields that can change
 */
export function fieldDiff<Shape extends z.ZodRawShape>({ shape }: z.ZodObject<Shape>) {
  const fields = Object.entries(shape).map(([name, field]) => {
    const value = field as z.ZodType;
    const change = z.object({ from: value.meta(before), to: value.meta(after) });
    return [name, change.meta({ description: `The change to \`${name}\`. Absent if unchanged.` }).optional()];
  });
  return z.object(Object.fromEntries(fields) as Changeable<Shape>).catchall(Change);
}
