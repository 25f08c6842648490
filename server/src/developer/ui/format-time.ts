import { getZoneName } from '../framework/local-datetime.ts';
import { html, type SafeHtml } from './html.ts';

/**
 * Returns a function that renders times in a time zone. The zone's short name follows each time.
 * @param timeZone an IANA name; null and unknown names mean UTC
 */
export function createTimeFormatter(timeZone: string | null): (moment: string | null, none?: string) => SafeHtml {
  const zone = getZoneName(timeZone);
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: zone });
  const name = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'short' });
  return (moment, none = 'never') => {
    if (moment === null) return html`${none}`;
    const date = new Date(moment);
    const short = name.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value;
    return html`<time datetime="${moment}" data-zone="${zone}">${format.format(date)}<span class="zone"> ${short}</span></time>`;
  };
}

/**
 * Returns a function that formats the axis labels of a chart. By default, a label is the time of day. With `days`, only
 * the start of each day has a label, which is the date.
 */
export function createAxisFormatter(timeZone: string | null, { days }: { days: boolean }): (moment: Date) => string {
  const zone = { timeZone: getZoneName(timeZone) };
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', ...zone });
  if (!days) return (moment) => time.format(moment);
  const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', ...zone });
  return (moment) => (time.format(moment).startsWith('00:') ? day.format(moment) : '');
}
