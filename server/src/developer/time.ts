import { html, type SafeHtml } from './html.ts';

/**
 * Writes moments in a time zone; where nobody said which, in UTC, which the script makes that of the browser.
 * @param timeZone IANA's name; one that isn't known counts as none
 */
export function timeIn(timeZone: string | null): (moment: string | null, none?: string) => SafeHtml {
  const known = isKnown(timeZone);
  const format = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone: known ? timeZone : 'UTC',
  });
  const mark = known ? '' : html`data-local`;
  const zone = known ? '' : ' UTC';
  return (moment, none = 'never') =>
    moment === null
      ? html`${none}`
      : html`<time datetime="${moment}" ${mark}>${format.format(new Date(moment))}${zone}</time>`;
}

/** Writes the marks of an axis in a time zone, or in UTC: the time of day; or the day, where it begins. */
export function marksIn(timeZone: string | null, { days }: { days: boolean }): (moment: Date) => string {
  const zone = { timeZone: isKnown(timeZone) ? timeZone : 'UTC' };
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', ...zone });
  if (!days) return (moment) => time.format(moment);
  const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', ...zone });
  return (moment) => (time.format(moment).startsWith('00:') ? day.format(moment) : '');
}

function isKnown(name: string | null): name is string {
  if (name === null) return false;
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
