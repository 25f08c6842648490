import { common, noun } from '../lib/command.ts';

export const businessHours = noun({
  verbs: {
    show: {
      summary: 'Show the business hours and the targets of a tenant',
      options: [common.tenant],
      examples: ['business-hours show --tenant Acme'],
    },
    set: {
      summary: 'Set the business hours of a tenant, so that its targets count only open time',
      details:
        'Options that you omit keep their values. Existing tickets keep their dates until their priority changes or ' +
        'a pause ends. To set the targets, use `tenants update`. The tenant must be open for at least one hour a week.',
      options: [
        common.tenant,
        { flags: '--time-zone <name>', about: 'IANA time zone, such as Europe/Berlin' },
        {
          flags: '--intervals <line...>',
          about:
            "days and up to four intervals, such as 'mon-fri 09:00-12:00 13:00-17:30'; repeat the option for all days; " +
            'an interval whose end is before its start ends on the next day',
        },
        {
          flags: '--holidays <line...>',
          about:
            "day and name, such as '2026-12-25 Christmas'; repeat the option for all holidays, up to 400, or separate " +
            'them by line breaks; intervals that begin on a holiday are closed',
        },
        {
          flags: '--pauses-while-pending <pauses>',
          about: 'true or false: whether the server adds the open time in which a ticket is PENDING to its due date',
          values: ['true', 'false'],
        },
      ],
      examples: [
        "business-hours set --tenant Acme --time-zone Europe/Berlin --intervals 'mon-fri 09:00-17:30'",
        'business-hours set --tenant Acme --holidays "$(cat holidays.txt)"',
      ],
    },
    clear: {
      summary: 'Delete the business hours of a tenant, so that its targets count every minute',
      details: 'The status PENDING no longer pauses the resolution target. The tenant keeps its targets.',
      options: [common.tenant],
      examples: ['business-hours clear --tenant Acme'],
    },
  },
  actions: () => import('../actions/business-hours.ts'),
});
