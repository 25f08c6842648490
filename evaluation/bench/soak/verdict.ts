import { median } from '../../../test/support/percentiles.ts';
import type { Sample } from './samples.ts';

/** The trend of one metric. */
export interface Course {
  figure: string;
  /** The medians of the first and the last part of the run. */
  first: number;
  last: number;
  lowest: number;
  highest: number;
  /** The growth per hour, as the median slope between all pairs of samples (Theil-Sen estimator). */
  perHour: number;
  /** True if the metric stays within its limit. Undefined for metrics that grow with the stored data. */
  isFlat: boolean | undefined;
}

/**
 * How much a metric may grow from the first to the last part of a run. The limit is the larger of `share` (a share of
 * the first value) and `always` (an absolute amount).
 */
interface Allowed {
  share: number;
  always: number;
}

/** The limits by the suffix of the metric name. Metrics without a limit grow with the stored data. */
const allowed: [unit: string, allowed: Allowed][] = [
  ['memory MB', { share: 0.05, always: 5 }],
  ['heap MB', { share: 0.05, always: 3 }],
  ['buffers MB', { share: 0.05, always: 5 }],
  ['backend MB', { share: 0.05, always: 1 }],
  ['descriptors', { share: 0.05, always: 3 }],
  ['connections', { share: 0.05, always: 2 }],
  ['per connection', { share: 0.05, always: 2 }],
  ['size MB', { share: 0.05, always: 1 }],
  ['bytes per row', { share: 0.05, always: 0 }],
  // The number of dead rows changes with each VACUUM, so its limit is higher.
  ['dead rows', { share: 0.5, always: 2000 }],
  // Other load on the machine affects values in milliseconds, so their limit is higher.
  ['ms', { share: 0.5, always: 10 }],
];

/**
 * The name suffix of heap metrics. Only the minimum per minute counts for these metrics, because garbage is collected
 * once a minute.
 */
const collected = 'heap MB';

/**
 * Compares the last part of a run with the first part. A part lasts `partSeconds`, or a third of the run if the run is
 * shorter than three parts.
 */
export function judge(samples: Sample[], { everySeconds, partSeconds }: { everySeconds: number; partSeconds: number }) {
  const part = Math.max(1, Math.min(Math.round(partSeconds / everySeconds), Math.floor(samples.length / 3)));
  const figures = Object.keys(samples[0] ?? {});
  return figures.map((figure): Course => {
    const values = seriesOf(samples, figure, Math.round(60 / everySeconds));
    const first = median(values.slice(0, part));
    const last = median(values.slice(-part));
    const limit = allowed.find(([unit]) => figure.endsWith(unit))?.[1];
    return {
      figure,
      first,
      last,
      lowest: Math.min(...values),
      highest: Math.max(...values),
      perHour: (slopeOf(values) * 3600) / everySeconds,
      isFlat: limit && last - first <= Math.max(limit.always, limit.share * first),
    };
  });
}

function seriesOf(samples: Sample[], figure: string, inAMinute: number): number[] {
  const values = samples.map((sample) => sample[figure] ?? 0);
  if (!figure.endsWith(collected)) return values;
  return values.map((_, at) => Math.min(...values.slice(Math.max(0, at + 1 - inAMinute), at + 1)));
}

/** Returns the median slope between all pairs of samples, per sample interval. */
function slopeOf(values: number[]): number {
  const slopes = values.flatMap((from, at) => values.slice(at + 1).map((to, apart) => (to - from) / (apart + 1)));
  return slopes.length === 0 ? 0 : median(slopes);
}

/** Formats the trends for a terminal. */
export function formatCourses(courses: Course[]): string {
  const head = ['figure', 'first', 'last', 'lowest', 'highest', 'per hour', ''];
  const rows = courses.map(({ figure, isFlat, ...course }) => [
    figure,
    ...[course.first, course.last, course.lowest, course.highest].map(short),
    `${course.perHour > 0 ? '+' : ''}${short(course.perHour)}`,
    isFlat === undefined ? '' : isFlat ? 'flat' : 'NOT FLAT',
  ]);
  return [head, ...rows]
    .map(([figure = '', ...cells]) => `${figure.padEnd(40)}${cells.map((cell) => cell.padStart(12)).join('')}\n`)
    .join('');
}

function short(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 100 ? 1 : 0 });
}
