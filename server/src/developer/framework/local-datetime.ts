import * as z from 'zod';

/** A time as `datetime-local` sends it: that of a clock on a wall, in whatever time zone. */
export const WallTime = z.iso
  .datetime({ local: true, error: 'must be a day and a time, such as 2026-11-20T10:00' })
  .refine((time) => time > '1970-01-02', 'must be after 1970');

/**
 * The moment at which a clock in a time zone shows a wall time, to the second; of two, when it is set back, the first.
 * @param timeZone IANA's name; one that isn't known counts as UTC
 */
export function parseLocalTime(wallTime: string, timeZone: string | null): Date {
  const asIfUtc = Math.floor(Date.parse(`${wallTime.replace(/Z$/, '')}Z`) / 1000) * 1000;
  const shown = (moment: number) => Date.parse(`${wallTimeOf(new Date(moment), timeZone)}Z`);
  const around = [asIfUtc - 86_400_000, asIfUtc + 86_400_000];
  const found = around.map((moment) => asIfUtc - (shown(moment) - moment)).sort((a, b) => a - b);
  return new Date(found.find((moment) => shown(moment) === asIfUtc) ?? found[0] ?? asIfUtc);
}

/** What a clock in a time zone shows at a moment, as `2026-11-20T10:00:00`. */
export function wallTimeOf(moment: Date, timeZone: string | null): string {
  const options = { dateStyle: 'short', timeStyle: 'medium' } as const;
  // Sweden writes times as ISO 8601 does.
  return inZone(timeZone, (zone) => moment.toLocaleString('sv-SE', { ...options, timeZone: zone })).replace(' ', 'T');
}

/** How the zone is called beside a field: what is typed is meant in it. */
export function zoneOf(timeZone: string | null): string {
  return inZone(timeZone, (zone) => new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone);
}

function inZone<Result>(timeZone: string | null, use: (zone: string) => Result): Result {
  try {
    return use(timeZone ?? 'UTC');
  } catch (error) {
    if (error instanceof RangeError) return use('UTC');
    throw error;
  }
}
