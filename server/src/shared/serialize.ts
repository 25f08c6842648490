/** Serializes an id as a number. Ids come from sequences, so they are safe integers. */
export function serializeId(id: bigint | number): number;
export function serializeId(id: bigint | number | null): number | null;
export function serializeId(id: bigint | number | null): number | null {
  return id === null ? null : Number(id);
}

/**
 * Serializes a timestamp as ISO 8601 in UTC. Also accepts the text form that PostgreSQL uses for timestamps in JSON.
 */
export function serializeTimestamp(timestamp: Date | string): string;
export function serializeTimestamp(timestamp: Date | string | null): string | null;
export function serializeTimestamp(timestamp: Date | string | null): string | null {
  return timestamp === null ? null : new Date(timestamp).toISOString();
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
