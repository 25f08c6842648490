/**
 * Serializes rows as one parameter for `json_to_recordset`, so that the statement text doesn't depend on the number of
 * rows. Ids become strings, because JSON numbers would round them.
 */
export function jsonRows(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
