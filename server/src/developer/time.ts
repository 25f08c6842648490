import { html, type SafeHtml } from './html.ts';

/**
 * Writes moments in a time zone; where nobody said which, in UTC, which the script makes that of the browser.
 * @param timeZone IANA's name; one that isn't known counts as none
 */
export function timeIn(timeZone: string | null): (moment: string | null, none?: string) => SafeHtml {
  const known = timeZone !== null && isTimeZone(timeZone);
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

function isTimeZone(name: string): boolean {
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
