import type { BusinessHoursSettings } from '@itsm-api/contract';
import * as z from 'zod';
import {
  formatHolidays,
  formatIntervals,
  formatTargets,
  HolidayLines,
  IntervalLines,
} from '../../resources/business-hours/calendar-text.ts';
import { getBusinessHours, setBusinessHours } from '../../resources/business-hours/queries.ts';
import { tenantContext } from '../../resources/tenants/queries.ts';
import type { Output } from '../lib/output.ts';
import { action } from '../lib/run-command.ts';
import { TrueOrFalse, updateInput } from '../lib/update.ts';

const ofTenant = { tenant: z.string() };

export const show = action({
  input: z.strictObject(ofTenant),
  work: async (runtime, { tenant }) => getBusinessHours(await tenantContext(runtime, tenant)),
  format: formatBusinessHours,
});

export const set = action({
  input: updateInput(ofTenant, {
    timeZone: z.string().optional(),
    intervals: IntervalLines.optional(),
    holidays: HolidayLines.optional(),
    pausesWhilePending: TrueOrFalse.optional(),
  }),
  work: async (runtime, { tenant, pausesWhilePending, ...calendar }) =>
    setBusinessHours(await tenantContext(runtime, tenant), { calendar, pausesWhilePending }),
  format: formatBusinessHours,
});

export const clear = action({
  input: z.strictObject(ofTenant),
  work: async (runtime, { tenant }) => setBusinessHours(await tenantContext(runtime, tenant), { calendar: null }),
  format: formatBusinessHours,
});

function formatBusinessHours(
  { calendar, targets, pausesWhilePending }: BusinessHoursSettings,
  { card }: Output,
): string {
  return card({
    'time zone': calendar?.timeZone ?? 'none: every minute counts',
    ...(calendar !== null && {
      intervals: inOneLine(formatIntervals(calendar.intervals)),
      holidays: inOneLine(formatHolidays(calendar.holidays)),
    }),
    'pauses while pending': String(pausesWhilePending),
    'first response targets': formatTargets(targets.firstResponse),
    'resolution targets': formatTargets(targets.resolution),
  });
}

function inOneLine(lines: string): string {
  return lines.replaceAll('\n', '; ') || 'none';
}
