const units = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/**
 * Formats a time relative to now, in the largest suitable unit, for example `3 hours ago` or `in 1 day`. Doesn't use
 * `Intl.RelativeTimeFormat`, because it takes too long to load for a command.
 */
export function relativeTime(moment: Date, now: Date): string {
  const seconds = Math.round((moment.getTime() - now.getTime()) / 1000);
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? [];
  if (unit === undefined) return 'now';
  const count = Math.trunc(Math.abs(seconds) / length);
  const amount = `${count} ${unit}${count === 1 ? '' : 's'}`;
  return seconds < 0 ? `${amount} ago` : `in ${amount}`;
}
