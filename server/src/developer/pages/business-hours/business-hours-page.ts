import { Priority, TargetMinutes } from '@itsm-api/contract';
import * as z from 'zod';
import {
  formatHolidays,
  formatIntervals,
  HolidayLines,
  IntervalLines,
} from '../../../resources/business-hours/calendar-text.ts';
import { findOpening } from '../../../resources/business-hours/open-hours.ts';
import { getBusinessHours, setBusinessHours } from '../../../resources/business-hours/queries.ts';
import { type FormState, form, page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { checkbox, checked, emptyAsNull, renderForm, submit, textArea, textField } from '../../ui/form-fields.ts';
import { html, type SafeHtml, section } from '../../ui/html.ts';

const path = '/developer/business-hours';

/** The schema of a target in a form. Converts text to a number, because browsers send numbers as text. */
const Target = emptyAsNull(
  z.preprocess((value) => (typeof value === 'string' ? Number(value) : value), TargetMinutes.shape.LOW),
);

/** The titles and texts of the forms for targets, by kind of target. */
const targetForms = {
  firstResponse: { title: 'First response targets', from: 'until the first response is due' },
  resolution: { title: 'Resolution targets', from: html`until it is due, unless a request sets <code>dueAt</code>` },
} as const;
type Kind = keyof typeof targetForms;

/** Returns the name of a form field, which is the path of the target in errors. */
function fieldOf(kind: Kind, priority: Priority) {
  return `targets.${kind}.${priority}` as const;
}

/** The page on which an administrator sets the business hours and the targets of the workspace. */
export const businessHours = page({
  path,
  menu: 'Business hours',
  roles: ['ADMIN'],
  async show(request) {
    const { calendar, targets, pausesWhilePending } = await getBusinessHours(request.visit.context);
    const calendarFields = (sent: FormState | undefined) => html`
${textField(sent, { name: 'timeZone', label: 'Time zone', value: calendar?.timeZone, required: true, hint: 'Such as Europe/Berlin.' })}
${textArea(sent, {
  ...{ name: 'intervals', label: 'Hours', value: calendar && formatIntervals(calendar.intervals), rows: 7 },
  hint: 'A line has days and up to four intervals, such as mon-fri 09:00-12:00 13:00-17:30. An interval can end on the next day.',
})}
${textArea(sent, {
  ...{ name: 'holidays', label: 'Holidays', value: calendar && formatHolidays(calendar.holidays) },
  hint: 'A line has a day and a name, such as 2026-12-25 Christmas. Intervals that begin on this day are closed.',
})}
${checkbox('pausesWhilePending', 'yes', 'Stop the clock of the resolution target while a ticket is PENDING', sent ? 'pausesWhilePending' in sent.values : pausesWhilePending)}
${submit('Save')}`;
    const targetSection = (kind: Kind) => {
      const fields = (sent: FormState | undefined) =>
        html`${Priority.options.toReversed().map((priority) =>
          textField(sent, {
            ...{
              name: fieldOf(kind, priority),
              label: `${priority} (minutes)`,
              type: 'number',
              value: targets[kind][priority],
            },
          }),
        )}${submit('Save')}`;
      return section(
        targetForms[kind].title,
        html`<p>The time from the creation of a ticket ${targetForms[kind].from}. With business hours, only open
 time counts. If a priority has no target, leave the field empty. Existing tickets keep their dates until their priority
 changes or a pause ends.</p>
${renderForm(request, kind, fields)}`,
      );
    };
    const calendarSection = section(
      'Hours',
      html`<p>${calendar === null ? 'Targets count every minute of every day.' : await describeOpening(request.visit)}</p>
${renderForm(request, 'calendar', calendarFields)}
${calendar && renderForm(request, 'clear', () => submit('Delete the hours', 'danger'))}`,
    );
    const body = html`${calendarSection}${targetSection('firstResponse')}${targetSection('resolution')}`;
    return { title: 'Business hours', body };
  },
  forms: {
    calendar: form({
      fields: z.strictObject({
        ...{ timeZone: z.string(), intervals: IntervalLines, holidays: HolidayLines },
        pausesWhilePending: checked,
      }),
      audit: 'settings.updated',
      async run({ visit, fields: { pausesWhilePending, ...calendar } }) {
        await setBusinessHours(visit.context, { calendar, pausesWhilePending });
        return { redirect: path, subject: 'business hours' };
      },
    }),
    clear: form({
      fields: z.strictObject({}),
      audit: 'settings.updated',
      async run({ visit }) {
        await setBusinessHours(visit.context, { calendar: null });
        return { redirect: path, subject: 'business hours' };
      },
    }),
    firstResponse: targetForm('firstResponse'),
    resolution: targetForm('resolution'),
  },
});

function targetForm(kind: Kind) {
  return form({
    fields: z.strictObject(Object.fromEntries(Priority.options.map((priority) => [fieldOf(kind, priority), Target]))),
    audit: 'settings.updated',
    async run({ visit, fields }) {
      const targets = Object.fromEntries(
        Priority.options.map((priority) => [priority, fields[fieldOf(kind, priority)]]),
      );
      await setBusinessHours(visit.context, { targets: { [kind]: targets } });
      return { redirect: path, subject: targetForms[kind].title.toLowerCase() };
    },
  });
}

async function describeOpening({ context, time }: UserContext): Promise<SafeHtml> {
  const { isOpen, until } = await findOpening(context);
  // In the row after the last day of the calendar, every minute is open until the year 9999.
  if (isOpen && until.startsWith('9999')) return html`Always open.`;
  return isOpen ? html`Open until ${time(until)}.` : html`Closed. Opens ${time(until)}.`;
}
