/** A row's id as JSON has it: a safe integer, since ids come from sequences. */
export function serializeId(id: bigint | number): number;
export function serializeId(id: bigint | number | null): number | null;
export function serializeId(id: bigint | number | null): number | null {
  return id === null ? null : Number(id);
}

/** A moment as the API answers it; given as text it is ISO 8601, as PostgreSQL writes it in JSON. */
export function serializeTimestamp(moment: Date | string): string;
export function serializeTimestamp(moment: Date | string | null): string | null;
export function serializeTimestamp(moment: Date | string | null): string | null {
  return moment === null ? null : new Date(moment).toISOString();
}

/** A calendar date as the API answers it, `YYYY-MM-DD`. */
export function serializeDate(date: Date | null): string | null {
  return date === null ? null : date.toISOString().slice(0, 10);
}

/** The `createdAt` and `updatedAt` that every resource has. */
export function serializeTimestamps(row: { createdAt: Date | string; updatedAt: Date | string }): {
  createdAt: string;
  updatedAt: string;
} {
  return { createdAt: serializeTimestamp(row.createdAt), updatedAt: serializeTimestamp(row.updatedAt) };
}

/** A calendar date or timestamp for its column. */
export function toDate(value: string | null): Date | null {
  return value === null ? null : new Date(value);
}
