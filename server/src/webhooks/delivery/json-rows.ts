/**
 * Serializes rows as one parameter for `json_to_recordset`. With one parameter, the SQL text doesn't depend on the
 * number of rows. Converts bigints to strings, because `JSON.stringify` can't serialize them.
 */
export function jsonRows(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
