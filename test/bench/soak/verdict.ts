import { median } from '../../support/percentiles.ts';
import type { Sample } from './samples.ts';

/** How one figure went. */
export interface Course {
  figure: string;
  /** Medians of the first and of the last part. */
  first: number;
  last: number;
  lowest: number;
  highest: number;
  /** By how much it grows in an hour: the median of the slopes between samples (Theil and Sen). */
  perHour: number;
  /** Undefined where it isn't judged: it grows by what is written. */
  isFlat: boolean | undefined;
}

/** How much more a figure may be in the last part than in the first: a share of it, and what is always allowed. */
interface Allowed {
  share: number;
  always: number;
}

/** By the end of a figure's name; what has none grows by what is written. */
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
  // They come and go with each vacuum.
  ['dead rows', { share: 0.5, always: 2000 }],
  // What else the machine does is in them.
  ['ms', { share: 0.5, always: 10 }],
];

/** What of a heap is used is told by what is left when garbage was collected, which is once a minute. */
const collected = 'heap MB';

/** Holds the last part of a run against the first: a third each where the run is shorter than three of them. */
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

/** By how much a series grows from one sample to the next. */
function slopeOf(values: number[]): number {
  const slopes = values.flatMap((from, at) => values.slice(at + 1).map((to, apart) => (to - from) / (apart + 1)));
  return slopes.length === 0 ? 0 : median(slopes);
}

/** The courses as a person reads them. */
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
