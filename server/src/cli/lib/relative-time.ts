const units = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/**
 * A moment as how far it is from now, in the largest unit that it has: `3 hours ago`, `in 1 day`. What Intl has for it
 * takes longer to load than the rows that it is said of.
 */
export function relativeTime(moment: Date, now: Date): string {
  const seconds = Math.round((moment.getTime() - now.getTime()) / 1000);
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? [];
  if (unit === undefined) return 'now';
  const count = Math.trunc(Math.abs(seconds) / length);
  const amount = `${count} ${unit}${count === 1 ? '' : 's'}`;
  return seconds < 0 ? `${amount} ago` : `in ${amount}`;
}
