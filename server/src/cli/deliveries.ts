import { type Delivery, DeliveryState, EventType, integerFromText } from '@itsm-api/contract';
import * as z from 'zod';
import { ApiError } from '../errors.ts';
import {
  countReplayable,
  DeliveryFilter,
  findDeliveries,
  getDelivery,
  type ReplayFilter,
  replayDeliveries,
} from '../resources/deliveries/queries.ts';
import { activeTenantContext, tenantContext } from '../resources/tenants/queries.ts';
import type { Runtime } from '../runtime.ts';
import { common, type Noun, type Parameter } from './command.ts';
import { confirm } from './confirm.ts';
import { shell } from './help.ts';
import { Limit, moreHint } from './listing.ts';
import { PastMoment } from './moment.ts';
import { action } from './run.ts';
import { state, type View } from './view.ts';

const filter = DeliveryFilter.extend({
  tenant: z.string(),
  subscription: integerFromText().optional(),
  state: z.preprocess(
    (state: unknown) => (typeof state === 'string' ? state.toUpperCase() : state),
    DeliveryState.optional(),
  ),
  since: PastMoment.optional(),
});

/** Replaying more than these is asked about. */
const askAbove = 10;

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
] satisfies Parameter[];

export const deliveries: Noun = {
  verbs: {
    list: {
      summary: 'List webhook deliveries, newest first',
      options: [...filters, common.limit, common.utc],
      examples: ['deliveries list --tenant Acme', 'deliveries list --tenant Acme --state exhausted --since 1d'],
      run: action({
        input: filter.extend({ limit: Limit }),
        work: async (runtime, { tenant, limit, ...which }) =>
          findDeliveries(await tenantContext(runtime, tenant), which, limit),
        format: (found, view) =>
          view.table(
            heads,
            found.map((each) => row(each, view)),
          ),
        hint: moreHint,
      }),
    },
    show: {
      summary: 'Show a delivery with every attempt: time, duration, status and what was answered',
      arguments: [{ flags: '<id>', about: 'id of the delivery', values: 'deliveries' }],
      options: [common.tenant, common.utc],
      examples: ['deliveries show 12 --tenant Acme'],
      run: action({
        input: z.strictObject({ tenant: z.string(), id: integerFromText() }),
        work: async (runtime, { tenant, id }) =>
          getDelivery(await tenantContext(runtime, tenant), id, { allAnswers: true }),
        format: detail,
        next: ({ id, state }, { tenant }) =>
          state === 'EXHAUSTED' ? [shell`deliveries replay ${id} --tenant ${tenant}`] : [],
      }),
    },
    replay: {
      summary: 'Send deliveries again at once, with the same webhook-id: one by its id, or all that the options name',
      details: 'What was delivered goes out again only by its id or with --state delivered.',
      arguments: [{ flags: '[id]', about: 'id of the delivery', values: 'deliveries' }],
      options: [
        ...filters,
        { flags: '--dry-run', about: 'only say how many there are' },
        { flags: '--yes', about: `do not ask about more than ${askAbove}` },
      ],
      examples: [
        'deliveries replay 12 --tenant Acme',
        'deliveries replay --tenant Acme --state exhausted --since 2h --dry-run',
      ],
      run: action({
        input: filter
          .extend({
            id: integerFromText().optional(),
            dryRun: z.boolean().default(false),
            yes: z.boolean().default(false),
          })
          .refine(({ id, subscription, event, state, since }) => id ?? subscription ?? event ?? state ?? since, {
            path: ['id'],
            message: 'is required, or --subscription, --event, --state or --since',
          }),
        work: replay,
        format: ({ replayed, matching }) =>
          replayed === 0
            ? `${countOf(matching)} would be sent again.`
            : `${countOf(replayed)} ${replayed === 1 ? 'is' : 'are'} being sent again.`,
      }),
    },
  },
};

interface Replay extends ReplayFilter {
  tenant: string;
  dryRun: boolean;
  yes: boolean;
}

async function replay(runtime: Runtime, { tenant, dryRun, yes, ...which }: Replay) {
  const context = await activeTenantContext(runtime, tenant);
  const matching = await countReplayable(context, which);
  if (matching === 0) {
    throw new ApiError('NOT_FOUND', 'There is no such delivery to an active subscription that could be sent again.');
  }
  const goesOn = !dryRun && (yes || matching <= askAbove || (await confirm(`send ${countOf(matching)} again`)));
  return { matching, replayed: goesOn ? await replayDeliveries(context, which) : 0 };
}

function countOf(deliveries: number): string {
  return `${deliveries} ${deliveries === 1 ? 'delivery' : 'deliveries'}`;
}

const heads = ['ID', 'SUBSCRIPTION', 'EVENT', 'STATE', 'ATTEMPTS', 'CREATED', 'NEXT ATTEMPT'];

function row(delivery: Delivery, { time }: View) {
  const { id, webhookId, event, attemptCount, createdAt, nextAttemptAt } = delivery;
  return [id, webhookId, event, state(delivery.state), attemptCount, time(createdAt), time(nextAttemptAt)];
}

function detail(delivery: Awaited<ReturnType<typeof getDelivery>>, view: View): string {
  const attempts = delivery.attempts.map(({ number, startedAt, durationMs, status, error, answer }) => {
    return [number, view.time(startedAt), `${durationMs} ms`, status, error ?? answer];
  });
  return [
    view.table(heads, [row(delivery, view)]),
    '',
    view.card({ url: delivery.url, 'event id': delivery.eventId, body: delivery.body }),
    '',
    attempts.length === 0
      ? 'No attempt yet.'
      : view.table(['ATTEMPT', 'STARTED', 'TOOK', 'STATUS', 'ANSWER'], attempts),
  ].join('\n');
}
