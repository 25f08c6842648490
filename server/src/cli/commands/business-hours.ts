import { common, noun } from '../lib/command.ts';

export const businessHours = noun({
  verbs: {
    show: {
      summary: 'Show the business hours and the targets of a tenant',
      options: [common.tenant],
      examples: ['business-hours show --tenant Acme'],
    },
    set: {
      summary: 'Set the business hours of a tenant, in which its targets count',
      details:
        'Options that you omit keep their values. Existing tickets keep their due dates until their priority changes or ' +
        'a pause ends. To set the targets, use `tenants update`. At least one hour a week must be open.',
      options: [
        common.tenant,
        { flags: '--time-zone <name>', about: 'IANA time zone, such as Europe/Berlin' },
        {
          flags: '--intervals <line...>',
          about:
            "days and up to four intervals, such as 'mon-fri 09:00-12:00 13:00-17:30'; repeat the option for all days; " +
            'an interval that ends at its start or earlier ends on the next day',
        },
        {
          flags: '--holidays <line...>',
          about:
            "day and name, such as '2026-12-25 Christmas'; repeat the option for all holidays, up to 400, or separate " +
            'them by line breaks; intervals that begin on a holiday are closed',
        },
        {
          flags: '--pauses-while-pending <pauses>',
          about: 'true or false: whether the time in which a ticket is PENDING moves its due date back',
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
      options: [common.tenant],
      examples: ['business-hours clear --tenant Acme'],
    },
  },
  actions: () => import('../actions/business-hours.ts'),
});
