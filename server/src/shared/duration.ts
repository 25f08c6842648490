const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses a duration such as `30m`, `2h` or `3d`. Returns milliseconds, or undefined if the text has another format. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * unitMs[unit as keyof typeof unitMs];
}
