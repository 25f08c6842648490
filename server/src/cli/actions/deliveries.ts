import { type Delivery, DeliveryState, integerFromText } from '@itsm-api/contract';
import * as z from 'zod';
import type { Runtime } from '../../process/runtime.ts';
import {
  countReplayable,
  DeliveryFilter,
  findDeliveries,
  getDelivery,
  type ReplayFilter,
  replayDeliveries,
} from '../../resources/deliveries/queries.ts';
import { activeTenantContext, tenantContext } from '../../resources/tenants/queries.ts';
import { ApiError } from '../../shared/errors.ts';
import { confirm, maxUnconfirmedReplays } from '../lib/confirm.ts';
import { shell } from '../lib/help.ts';
import { Limit, moreHint } from '../lib/listing.ts';
import { type Output, statusLabel } from '../lib/output.ts';
import { PastTime } from '../lib/parse-time.ts';
import { action } from '../lib/run-command.ts';

const filter = DeliveryFilter.extend({
  tenant: z.string(),
  subscription: integerFromText().optional(),
  state: z.preprocess(
    (state: unknown) => (typeof state === 'string' ? state.toUpperCase() : state),
    DeliveryState.optional(),
  ),
  since: PastTime.optional(),
  until: PastTime.optional(),
});

export const list = action({
  input: filter.extend({ limit: Limit }),
  work: async (runtime, { tenant, limit, ...which }) =>
    (await findDeliveries(await tenantContext(runtime, tenant), which, { take: limit })).data,
  format: (found, output) =>
    output.table(
      heads,
      found.map((each) => row(each, output)),
    ),
  hint: moreHint,
});

export const show = action({
  input: z.strictObject({ tenant: z.string(), id: integerFromText() }),
  work: async (runtime, { tenant, id }) => getDelivery(await tenantContext(runtime, tenant), id, { allAnswers: true }),
  format: detail,
  next: ({ id, state }, { tenant }) =>
    state === 'EXHAUSTED' ? [shell`deliveries replay ${id} --tenant ${tenant}`] : [],
});

export const replay = action({
  input: filter
    .extend({
      id: integerFromText().optional(),
      dryRun: z.boolean().default(false),
      yes: z.boolean().default(false),
    })
    .refine(
      ({ id, subscription, event, state, since, until }) => id ?? subscription ?? event ?? state ?? since ?? until,
      {
        path: ['id'],
        message:
          'or a filter is required. To replay all deliveries that failed, use --state exhausted. ' +
          'The other filters are --subscription, --event, --since and --until',
      },
    ),
  work: replayMatching,
  format: ({ replayed, matching }) => {
    if (matching === 0) return 'Nothing to replay: no delivery to an active subscription matches.';
    return replayed === 0 ? `${formatCount(matching)} would be replayed.` : `Replaying ${formatCount(replayed)}.`;
  },
});

interface Replay extends ReplayFilter {
  tenant: string;
  dryRun: boolean;
  yes: boolean;
}

async function replayMatching(runtime: Runtime, { tenant, dryRun, yes, ...which }: Replay) {
  const context = await activeTenantContext(runtime, tenant);
  const matching = await countReplayable(context, which);
  if (matching === 0 && which.id !== undefined) {
    throw new ApiError(
      'NOT_FOUND',
      'The delivery does not exist, or its subscription is inactive. To list deliveries, use `deliveries list`.',
    );
  }
  const isConfirmed =
    !dryRun &&
    matching > 0 &&
    (yes || matching <= maxUnconfirmedReplays || (await confirm(`replay ${formatCount(matching)}`)));
  return { matching, replayed: isConfirmed ? await replayDeliveries(context, which) : 0 };
}

function formatCount(deliveries: number): string {
  return `${deliveries} ${deliveries === 1 ? 'delivery' : 'deliveries'}`;
}

const heads = ['ID', 'SUBSCRIPTION', 'EVENT', 'STATUS', 'ATTEMPTS', 'CREATED', 'NEXT ATTEMPT'];

function row(delivery: Delivery, { time }: Output) {
  const { id, webhookId, event, attemptCount, createdAt, nextAttemptAt } = delivery;
  return [id, webhookId, event, statusLabel(delivery.state), attemptCount, time(createdAt), time(nextAttemptAt)];
}

function detail(delivery: Awaited<ReturnType<typeof getDelivery>>, output: Output): string {
  const attempts = delivery.attempts.map(({ number, startedAt, durationMs, status, error, answer }) => {
    return [number, output.time(startedAt), `${durationMs} ms`, status, error ?? answer];
  });
  return [
    output.table(heads, [row(delivery, output)]),
    '',
    output.card({ url: delivery.url, 'event id': delivery.eventId, body: delivery.body }),
    '',
    attempts.length === 0
      ? 'No attempts yet.'
      : output.table(['ATTEMPT', 'STARTED', 'DURATION', 'STATUS', 'RESPONSE'], attempts),
  ].join('\n');
}
