import * as z from 'zod';

const before = { description: 'The value before.' };
const after = { description: 'The value after.' };

/** A field that an update changed. */
const Change = z.object({ from: z.unknown().meta(before), to: z.unknown().meta(after) });

/** What an update changed, of whatever resource: each field that differs. */
export const Changes = z.record(z.string(), Change).meta({
  id: 'Changes',
  description: 'What an update changed: each field that differs.',
  example: { status: { from: 'OPEN', to: 'RESOLVED' } },
});
export type Changes = z.output<typeof Changes>;

type Changeable<Shape extends z.ZodRawShape> = {
  [Name in keyof Shape]: z.ZodOptional<z.ZodObject<{ from: Shape[Name]; to: Shape[Name] }>>;
};

/**
 * What an update of a resource changed: of each field that differs the value before and after, as the resource has it.
 * Fields that a newer release knows pass as they are.
 * @param fields those that can change
 */
export function changesIn<Shape extends z.ZodRawShape>({ shape }: z.ZodObject<Shape>) {
  const fields = Object.entries(shape).map(([name, field]) => {
    const value = field as z.ZodType;
    const change = z.object({ from: value.meta(before), to: value.meta(after) });
    return [name, change.meta({ description: `What became of \`${name}\`; absent where it is as before.` }).optional()];
  });
  return z.object(Object.fromEntries(fields) as Changeable<Shape>).catchall(Change);
}
