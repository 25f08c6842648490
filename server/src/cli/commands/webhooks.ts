import { EventType } from '@itsm-api/contract';
import { common, noun, type Parameter } from '../lib/command.ts';
import { eventsHelp } from '../lib/event-list.ts';
import { clearing } from '../lib/update.ts';

const id = { flags: '<id>', about: 'id of the subscription', values: 'webhooks' } as const;

const fields = [
  { flags: '--filter <field=values...>', about: 'only where the field is one of these; may be repeated' },
  {
    flags: '--secret <secret>',
    about: 'what signs each delivery, of 24 characters or more; - reads it from standard input',
    secret: true,
  },
] satisfies Parameter[];
const events = { flags: '--events <events>', about: eventsHelp, values: EventType.options };

export const webhooks = noun({
  verbs: {
    list: {
      summary: 'List the webhook subscriptions of a tenant, newest first',
      options: [common.tenant, { flags: '--all', about: 'those that were deactivated, too' }, common.limit, common.utc],
      examples: ['webhooks list --tenant Acme'],
    },
    show: {
      summary: 'Show a webhook subscription: everything but its secret',
      arguments: [id],
      options: [common.tenant, common.utc],
      examples: ['webhooks show 5 --tenant Acme'],
    },
    create: {
      summary: 'Register a webhook subscription',
      details: 'Without --secret one is made and printed, alone, on stdout: the one time that it is shown.',
      options: [
        common.tenant,
        { flags: '--url <url>', about: 'where deliveries go', required: true },
        { ...events, required: true },
        ...fields,
      ],
      examples: [
        'webhooks create --tenant Acme --url https://hooks.acme.example/itsm --events ticket.created,ticket.updated',
        "webhooks create --tenant Acme --url https://hooks.acme.example/itsm --events 'ticket.*' --filter priority=HIGH,CRITICAL",
      ],
    },
    update: {
      summary: 'Change, pause or resume a webhook subscription',
      details: `${clearing.replace('notes', 'filter')}. The secret before signs, too, for a day.`,
      arguments: [id],
      options: [
        common.tenant,
        { flags: '--url <url>', about: 'where deliveries go' },
        events,
        ...fields,
        {
          flags: '--paused <paused>',
          about: 'true: what happens waits; false: what waits is sent',
          values: ['true', 'false'],
        },
      ],
      examples: [
        "webhooks update 5 --tenant Acme --events 'ticket.*'",
        'webhooks update 5 --tenant Acme --paused false',
      ],
    },
    test: {
      summary: 'Send a subscription an example event',
      arguments: [id],
      options: [
        common.tenant,
        {
          flags: '--event <type>',
          about: 'which event (default: the first that it wants)',
          values: EventType.options,
        },
      ],
      examples: ['webhooks test 5 --tenant Acme'],
    },
    deactivate: {
      summary: 'Deactivate a webhook subscription: nothing is sent to it any more',
      arguments: [id],
      options: [common.tenant],
      examples: ['webhooks deactivate 5 --tenant Acme'],
    },
    activate: {
      summary: 'Activate a webhook subscription again: it is sent what happens from now on',
      arguments: [id],
      options: [common.tenant],
      examples: ['webhooks activate 5 --tenant Acme'],
    },
  },
  actions: () => import('../actions/webhooks.ts'),
});
