import { EventType } from '@itsm-api/contract';
import { common, noun, type Parameter } from '../lib/command.ts';
import { eventsHelp } from '../lib/event-list.ts';
import { clearing } from '../lib/update.ts';

const id = { flags: '<id>', about: 'ID of the subscription', values: 'webhooks' } as const;

const fields = [
  {
    flags: '--filter <field=values...>',
    about: 'only events where the field has one of these values; repeat the option for more fields',
  },
  {
    flags: '--secret <secret>',
    about: 'signing secret of at least 24 characters; - reads it from standard input',
    secret: true,
  },
] satisfies Parameter[];
const events = { flags: '--events <events>', about: eventsHelp, values: EventType.options };

export const webhooks = noun({
  verbs: {
    list: {
      summary: 'List the webhook subscriptions of a tenant, newest first',
      options: [
        common.tenant,
        { flags: '--all', about: 'include deactivated subscriptions' },
        common.limit,
        common.utc,
      ],
      examples: ['webhooks list --tenant Acme'],
    },
    show: {
      summary: 'Show a webhook subscription without its secret',
      arguments: [id],
      options: [common.tenant, common.utc],
      examples: ['webhooks show 1 --tenant Acme'],
    },
    create: {
      summary: 'Create a webhook subscription',
      details:
        'Without --secret, the command generates a signing secret and prints it on stdout. Only this command shows the secret.',
      options: [
        common.tenant,
        { flags: '--url <url>', about: 'URL that receives deliveries', required: true },
        { ...events, required: true },
        ...fields,
      ],
      examples: [
        'webhooks create --tenant Acme --url https://hooks.acme.example/itsm --events ticket.created,ticket.updated',
        "webhooks create --tenant Acme --url https://hooks.acme.example/itsm --events 'ticket.*' --filter priority=HIGH,CRITICAL",
      ],
    },
    update: {
      summary: 'Update, pause or resume a webhook subscription',
      details: `${clearing.replace('notes', 'filter')} After a change of the secret, deliveries are also signed with the previous secret for 24 hours.`,
      arguments: [id],
      options: [
        common.tenant,
        { flags: '--url <url>', about: 'URL that receives deliveries' },
        events,
        ...fields,
        {
          flags: '--paused <paused>',
          about: 'true pauses deliveries; false resumes them and sends pending deliveries',
          values: ['true', 'false'],
        },
      ],
      examples: [
        "webhooks update 1 --tenant Acme --events 'ticket.*'",
        'webhooks update 1 --tenant Acme --paused false',
      ],
    },
    test: {
      summary: 'Send an example event to a subscription',
      arguments: [id],
      options: [
        common.tenant,
        {
          flags: '--event <type>',
          about: 'event type (default: the first type of the subscription)',
          values: EventType.options,
        },
      ],
      examples: ['webhooks test 1 --tenant Acme'],
    },
    deactivate: {
      summary: 'Deactivate a webhook subscription: cancel pending deliveries and send no new ones',
      arguments: [id],
      options: [common.tenant],
      examples: ['webhooks deactivate 1 --tenant Acme'],
    },
    activate: {
      summary: 'Reactivate a webhook subscription: deliver events from now on',
      arguments: [id],
      options: [common.tenant],
      examples: ['webhooks activate 1 --tenant Acme'],
    },
  },
  actions: () => import('../actions/webhooks.ts'),
});
