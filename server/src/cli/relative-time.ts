const units = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

const words = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** A moment as how far it is from now, in the largest unit that it has: `3 hours ago`. */
export function relativeTime(moment: Date, now: Date): string {
  const seconds = Math.round((moment.getTime() - now.getTime()) / 1000);
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? [];
  return unit === undefined ? 'now' : words.format(Math.trunc(seconds / length), unit);
}
