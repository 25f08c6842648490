import type * as z from 'zod';

/** The fields that only an import key can set (docs/decisions/imports.md). */
const importFields = new WeakSet<z.ZodType>();

/**
 * Returns the optional schema of a field that only an import key can set.
 * @param description the description of the field, which ends with a full stop
 */
export function importField<Schema extends z.ZodType>(schema: Schema, description: string) {
  const field = schema.optional().meta({ description: `${description} Only an import key can set it.` });
  importFields.add(field);
  return field;
}

/** Returns true if only an import key can set the field with this schema. */
export function isImportField(schema: z.ZodType): boolean {
  return importFields.has(schema);
}
