/**
 * Rows as one parameter of a statement, for `json_to_recordset`: the statement has the same text however many there
 * are. Ids go as text, which JSON's numbers would round.
 */
export function jsonRows(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
