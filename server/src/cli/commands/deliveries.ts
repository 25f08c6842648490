import { DeliveryState, EventType } from '@itsm-api/contract';
import { common, noun, type Parameter } from '../lib/command.ts';
import { maxUnconfirmedReplays } from '../lib/confirm.ts';

const states = DeliveryState.options.map((each) => each.toLowerCase());
const filters = [
  common.tenant,
  { flags: '--subscription <id>', about: 'only deliveries to this subscription', values: 'webhooks' },
  {
    flags: '--event <event>',
    about: 'only deliveries of this event type, or of the event with this ID',
    values: EventType.options,
  },
  { flags: '--state <state>', about: `only deliveries with this status: ${states.join(', ')}`, values: states },
  {
    flags: '--since <moment>',
    about: 'only deliveries created since then: 30m, 2h or 3d ago, or 2026-11-20T10:00:00Z',
  },
  { flags: '--until <moment>', about: 'only deliveries created before then' },
] satisfies Parameter[];

export const deliveries = noun({
  verbs: {
    list: {
      summary: 'List webhook deliveries, newest first',
      options: [...filters, common.limit, common.utc],
      examples: ['deliveries list --tenant Acme', 'deliveries list --tenant Acme --state exhausted --since 1d'],
    },
    show: {
      summary: 'Show a delivery and all its attempts, with time, duration, status and response',
      arguments: [{ flags: '<id>', about: 'ID of the delivery', values: 'deliveries' }],
      options: [common.tenant, common.utc],
      examples: ['deliveries show 2 --tenant Acme'],
    },
    replay: {
      summary: 'Replay one delivery, or all deliveries that match the options',
      details:
        'Replayed deliveries keep their webhook-id and are sent immediately. Successful deliveries are replayed only by ID or ' +
        'with --state delivered.',
      arguments: [{ flags: '[id]', about: 'ID of the delivery', values: 'deliveries' }],
      options: [
        ...filters,
        { flags: '--dry-run', about: 'print how many deliveries match, and send none' },
        { flags: '--yes', about: `don't ask for confirmation of more than ${maxUnconfirmedReplays} deliveries` },
      ],
      examples: [
        'deliveries replay 2 --tenant Acme',
        'deliveries replay --tenant Acme --state exhausted --since 2h --dry-run',
      ],
    },
  },
  actions: () => import('../actions/deliveries.ts'),
});
