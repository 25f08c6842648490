/** Returns the name of the database column for a field, such as `created_at` for `createdAt`. */
export function toColumn(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
