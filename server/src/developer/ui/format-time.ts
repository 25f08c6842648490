import { zoneOf } from '../framework/local-datetime.ts';
import { html, type SafeHtml } from './html.ts';

/**
 * Writes moments in a time zone, with its short name.
 * @param timeZone IANA's name; null and unknown names count as UTC, as for what is typed (moment.ts)
 */
export function timeIn(timeZone: string | null): (moment: string | null, none?: string) => SafeHtml {
  const zone = zoneOf(timeZone);
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: zone });
  const name = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'short' });
  return (moment, none = 'never') => {
    if (moment === null) return html`${none}`;
    const date = new Date(moment);
    const short = name.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value;
    return html`<time datetime="${moment}" data-zone="${zone}">${format.format(date)}<span class="zone"> ${short}</span></time>`;
  };
}

/** Writes the marks of an axis in a time zone, or in UTC: the time of day; or the day, where it begins. */
export function marksIn(timeZone: string | null, { days }: { days: boolean }): (moment: Date) => string {
  const zone = { timeZone: zoneOf(timeZone) };
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', ...zone });
  if (!days) return (moment) => time.format(moment);
  const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', ...zone });
  return (moment) => (time.format(moment).startsWith('00:') ? day.format(moment) : '');
}
