import { NewUser } from '@itsm-api/contract';

/** A time zone that this process supports, for new users. */
export const TimeZone = NewUser.shape.timeZone.refine(
  (name) => name == null || isTimeZone(name),
  'must be the IANA name of a time zone, such as Europe/Berlin',
);

function isTimeZone(name: string): boolean {
  // Intl also accepts offsets such as +01:00, which have no daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
