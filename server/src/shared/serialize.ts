/** A row's id as JSON has it: a safe integer, since ids come from sequences. */
export function presentId(id: bigint | number): number;
export function presentId(id: bigint | number | null): number | null;
export function presentId(id: bigint | number | null): number | null {
  return id === null ? null : Number(id);
}

/** A moment as the API answers it; given as text it is ISO 8601, as PostgreSQL writes it in JSON. */
export function presentTimestamp(moment: Date | string): string;
export function presentTimestamp(moment: Date | string | null): string | null;
export function presentTimestamp(moment: Date | string | null): string | null {
  return moment === null ? null : new Date(moment).toISOString();
}

/** A calendar date as the API answers it, `YYYY-MM-DD`. */
export function presentDate(date: Date | null): string | null {
  return date === null ? null : date.toISOString().slice(0, 10);
}

/** The `createdAt` and `updatedAt` that every resource has. */
export function presentTimestamps(row: { createdAt: Date | string; updatedAt: Date | string }): {
  createdAt: string;
  updatedAt: string;
} {
  return { createdAt: presentTimestamp(row.createdAt), updatedAt: presentTimestamp(row.updatedAt) };
}

/** A calendar date or timestamp for its column. */
export function toDate(value: string | null): Date | null {
  return value === null ? null : new Date(value);
}
