/** Serializes an id as a number. Ids come from sequences, so they are safe integers. */
export function serializeId(id: bigint | number): number;
export function serializeId(id: bigint | number | null): number | null;
export function serializeId(id: bigint | number | null): number | null {
  return id === null ? null : Number(id);
}

/** The end of a timestamp in JSON from PostgreSQL. All connections use the time zone UTC. */
const utcOffset = '+00:00';

/**
 * Serializes a timestamp as ISO 8601 in UTC. Also accepts the text form that PostgreSQL uses for timestamps in JSON,
 * such as `2026-11-26T09:30:00.5+00:00`.
 */
export function serializeTimestamp(timestamp: Date | string): string;
export function serializeTimestamp(timestamp: Date | string | null): string | null;
export function serializeTimestamp(timestamp: Date | string | null): string | null {
  if (timestamp === null) return null;
  if (typeof timestamp !== 'string' || !timestamp.endsWith(utcOffset)) return new Date(timestamp).toISOString();
  // Doesn't create a `Date`, because that would take 5 % of the time for a list of tickets. PostgreSQL omits zeros at the
  // end of a fraction.
  const text = timestamp.slice(0, -utcOffset.length);
  const withPoint = text.length === '2026-11-26T09:30:00'.length ? `${text}.` : text;
  const { length } = '2026-11-26T09:30:00.500';
  return `${withPoint.padEnd(length, '0').slice(0, length)}Z`;
}

/** Serializes a calendar date as `YYYY-MM-DD`. */
export function serializeDate(date: Date | null): string | null {
  return date === null ? null : date.toISOString().slice(0, 10);
}

/** Serializes `createdAt` and `updatedAt`, which every resource has. */
export function serializeTimestamps(row: { createdAt: Date | string; updatedAt: Date | string }): {
  createdAt: string;
  updatedAt: string;
} {
  return { createdAt: serializeTimestamp(row.createdAt), updatedAt: serializeTimestamp(row.updatedAt) };
}

/** Converts a calendar date or timestamp to a `Date` for the database. */
export function toDate(value: string | null): Date | null {
  return value === null ? null : new Date(value);
}
