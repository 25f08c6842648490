import * as z from 'zod';

/** The schema of a local time without a time zone, in the format of `<input type="datetime-local">`. */
export const LocalTime = z.iso
  .datetime({ local: true, error: 'must be a date and a time, such as 2026-11-20T10:00' })
  .refine((time) => time > '1970-01-02', 'must be after 1970-01-01');

/**
 * Converts a local time in a time zone to a date, and rounds it down to whole seconds. If the local time occurs twice
 * because clocks are set back, returns the earlier date.
 * @param timeZone an IANA name; null and unknown names mean UTC
 */
export function parseLocalTime(wallTime: string, timeZone: string | null): Date {
  const asIfUtc = Math.floor(Date.parse(`${wallTime.replace(/Z$/, '')}Z`) / 1000) * 1000;
  const shown = (moment: number) => Date.parse(`${formatLocalTime(new Date(moment), timeZone)}Z`);
  const around = [asIfUtc - 86_400_000, asIfUtc + 86_400_000];
  const found = around.map((moment) => asIfUtc - (shown(moment) - moment)).sort((a, b) => a - b);
  return new Date(found.find((moment) => shown(moment) === asIfUtc) ?? found[0] ?? asIfUtc);
}

/** Formats a date as local time in a time zone, such as `2026-11-20T10:00:00`. */
export function formatLocalTime(moment: Date, timeZone: string | null): string {
  const options = { dateStyle: 'short', timeStyle: 'medium' } as const;
  // The Swedish locale formats times almost like ISO 8601.
  return inZone(timeZone, (zone) => moment.toLocaleString('sv-SE', { ...options, timeZone: zone })).replace(' ', 'T');
}

/** Returns the canonical name of a time zone, for use in field labels. */
export function getZoneName(timeZone: string | null): string {
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
