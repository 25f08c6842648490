import { NewUser } from '@itsm-api/contract';

/** The schema for the time zone of a new user. Accepts only time zones that this process supports. */
export const TimeZone = NewUser.shape.timeZone.refine(
  (name) => name == null || isTimeZone(name),
  'must be the IANA name of a time zone, such as Europe/Berlin',
);

function isTimeZone(name: string): boolean {
  // Rejects offsets such as +01:00. `Intl` accepts offsets, but they don't change with daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
