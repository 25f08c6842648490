/** Percentiles in the unit of the measured values. If there are no values, the percentiles are NaN. */
export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
  max: number;
}

export function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

/** Returns the median. If the number of values is even, returns the larger of the two middle values. */
export function median(values: readonly number[]): number {
  return percentiles(values).p50;
}
