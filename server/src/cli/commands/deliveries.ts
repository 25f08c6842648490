import { DeliveryState, EventType } from '@itsm-api/contract';
import { common, noun, type Parameter } from '../lib/command.ts';
import { askOnStderr } from '../lib/confirm.ts';

const states = DeliveryState.options.map((each) => each.toLowerCase());
const filters = [
  common.tenant,
  { flags: '--subscription <id>', about: 'only those to this subscription', values: 'webhooks' },
  {
    flags: '--event <event>',
    about: 'only those of this event type, or of the event with this id',
    values: EventType.options,
  },
  { flags: '--state <state>', about: `only those that are ${states.join(', ')}`, values: states },
  { flags: '--since <moment>', about: 'only those made since then: 30m, 2h or 3d ago, or 2026-11-20T10:00:00Z' },
  { flags: '--until <moment>', about: 'only those made before then' },
] satisfies Parameter[];

export const deliveries = noun({
  verbs: {
    list: {
      summary: 'List webhook deliveries, newest first',
      options: [...filters, common.limit, common.utc],
      examples: ['deliveries list --tenant Acme', 'deliveries list --tenant Acme --state exhausted --since 1d'],
    },
    show: {
      summary: 'Show a delivery with every attempt: time, duration, status and what was answered',
      arguments: [{ flags: '<id>', about: 'id of the delivery', values: 'deliveries' }],
      options: [common.tenant, common.utc],
      examples: ['deliveries show 12 --tenant Acme'],
    },
    replay: {
      summary: 'Send deliveries again at once, with the same webhook-id: one by its id, or all that the options name',
      details: 'What was delivered goes out again only by its id or with --state delivered.',
      arguments: [{ flags: '[id]', about: 'id of the delivery', values: 'deliveries' }],
      options: [
        ...filters,
        { flags: '--dry-run', about: 'only say how many there are' },
        { flags: '--yes', about: `do not ask about more than ${askOnStderr}` },
      ],
      examples: [
        'deliveries replay 12 --tenant Acme',
        'deliveries replay --tenant Acme --state exhausted --since 2h --dry-run',
      ],
    },
  },
  actions: () => import('../actions/deliveries.ts'),
});
