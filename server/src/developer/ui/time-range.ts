import { getZoneName, LocalTime, parseLocalTime } from '../framework/local-datetime.ts';
import type { UserContext } from '../framework/request-context.ts';
import { optional, textField } from './form-fields.ts';
import { html, type SafeHtml } from './html.ts';

/* The filter of a list by time: the query parameters `since` and `until`, which are local times of the user. */

/** The schemas of the query parameters. */
export const timeRangeQuery = { since: optional(LocalTime), until: optional(LocalTime) };

interface TimeRange {
  since?: string | undefined;
  until?: string | undefined;
}

/** Converts the query parameters to dates. Omits parameters that aren't set. */
export function parseTimeRange({ since, until }: TimeRange, { user }: UserContext): { since?: Date; until?: Date } {
  const { timeZone } = user.account;
  return {
    ...(since !== undefined && { since: parseLocalTime(since, timeZone) }),
    ...(until !== undefined && { until: parseLocalTime(until, timeZone) }),
  };
}

/** Renders the two fields of the filter. */
export function timeRangeFields({ since, until }: TimeRange, { user }: UserContext): SafeHtml {
  const zone = getZoneName(user.account.timeZone);
  const moment = { type: 'datetime-local' } as const;
  return html`${textField(undefined, { ...moment, name: 'since', label: `Since (${zone})`, value: since })}
${textField(undefined, { ...moment, name: 'until', label: `Before (${zone})`, value: until })}`;
}
