import { type Delivery, DeliveryState, EventType, Id, integerFromText } from '@itsm-api/contract';
import type { Command } from 'commander';
import * as z from 'zod';

import { ApiError } from '../errors.ts';
import {
  countReplayable,
  DeliveryFilter,
  findDeliveries,
  getDelivery,
  type ReplayFilter,
  replayDeliveries,
  sendTestEvent,
} from '../resources/deliveries/queries.ts';
import { activeTenantContext, tenantContext } from '../resources/tenants/queries.ts';
import type { Runtime } from '../runtime.ts';
import { confirm } from './confirm.ts';
import { printable } from './errors.ts';
import { examples } from './help.ts';
import { action } from './run.ts';
import { table } from './table.ts';

const filter = DeliveryFilter.extend({
  tenant: z.string(),
  subscription: integerFromText().optional(),
  state: z.preprocess(
    (state: unknown) => (typeof state === 'string' ? state.toUpperCase() : state),
    DeliveryState.optional(),
  ),
});

/** Replaying more than these is asked about. */
const askAbove = 100;

export function addDeliveries(program: Command): void {
  const deliveries = program.command('deliveries').description('See and mend webhook deliveries');

  filtered(deliveries.command('list').description('List webhook deliveries, newest first'))
    .option('--limit <count>', 'how many at most', '50')
    .addHelpText('after', examples('deliveries list --tenant Acme', 'deliveries list --tenant Acme --state exhausted'))
    .action(
      action({
        input: filter.extend({ limit: integerFromText(Id.max(10_000)) }),
        work: async (runtime, { tenant, limit, ...which }) =>
          findDeliveries(await tenantContext(runtime, tenant), which, limit),
        format: (found) => table(heads, found.map(row)),
      }),
    );

  deliveries
    .command('show')
    .description('Show a delivery with every attempt: time, duration, status and what was answered')
    .argument('<id>', 'id of the delivery')
    .requiredOption('--tenant <tenant>', 'name or id of the tenant')
    .addHelpText('after', examples('deliveries show 12 --tenant Acme'))
    .action(
      action({
        input: z.strictObject({ tenant: z.string(), id: integerFromText() }),
        work: async (runtime, { tenant, id }) =>
          getDelivery(await tenantContext(runtime, tenant), id, { allAnswers: true }),
        format: detail,
      }),
    );

  filtered(
    deliveries
      .command('replay')
      .description(
        'Send deliveries again at once, with the same webhook-id: one by its id, or all that the options name. ' +
          'What was delivered goes out again only by its id or with --state delivered',
      )
      .argument('[id]', 'id of the delivery'),
  )
    .option('--dry-run', 'only say how many there are')
    .option('--yes', `do not ask about more than ${askAbove}`)
    .addHelpText(
      'after',
      examples(
        'deliveries replay 12 --tenant Acme',
        'deliveries replay --tenant Acme --subscription 3 --state exhausted --dry-run',
      ),
    )
    .action(
      action({
        input: filter
          .extend({
            id: integerFromText().optional(),
            dryRun: z.boolean().default(false),
            yes: z.boolean().default(false),
          })
          .refine(({ id, subscription, event, state }) => id ?? subscription ?? event ?? state, {
            path: ['id'],
            message: 'is required, or --subscription, --event or --state',
          }),
        work: replay,
        format: ({ replayed, matching }) =>
          replayed === 0
            ? `${countOf(matching)} would be sent again.`
            : `${countOf(replayed)} ${replayed === 1 ? 'is' : 'are'} being sent again.`,
      }),
    );

  deliveries
    .command('test')
    .description('Send a subscription an example event')
    .requiredOption('--tenant <tenant>', 'name or id of the tenant')
    .requiredOption('--subscription <id>', 'id of the subscription')
    .option('--event <type>', 'which event (default: the first that it wants)')
    .addHelpText('after', examples('deliveries test --tenant Acme --subscription 3'))
    .action(
      action({
        input: z.strictObject({ tenant: z.string(), subscription: integerFromText(), event: EventType.optional() }),
        work: async (runtime, { tenant, subscription, event }) =>
          sendTestEvent(await activeTenantContext(runtime, tenant), subscription, event),
        format: (delivery) => `Delivery ${delivery.id}, ${delivery.event}, is on its way.`,
      }),
    );
}

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

function filtered(command: Command): Command {
  return command
    .requiredOption('--tenant <tenant>', 'name or id of the tenant')
    .option('--subscription <id>', 'only those to this subscription')
    .option('--event <event>', 'only those of this event type, or of the event with this id')
    .option('--state <state>', `only those that are ${DeliveryState.options.join(', ').toLowerCase()}`);
}

const heads = ['ID', 'SUBSCRIPTION', 'EVENT', 'STATE', 'ATTEMPTS', 'CREATED', 'NEXT ATTEMPT'];

function row(delivery: Delivery): string[] {
  const { id, webhookId, event, state, attemptCount, createdAt, nextAttemptAt } = delivery;
  return [String(id), String(webhookId), event, state, String(attemptCount), createdAt, nextAttemptAt ?? '-'];
}

function detail(delivery: Awaited<ReturnType<typeof getDelivery>>): string {
  const attempts = delivery.attempts.map(({ number, startedAt, durationMs, status, error, answer }) => {
    return [
      String(number),
      startedAt,
      `${durationMs} ms`,
      status === null ? '-' : String(status),
      error ?? answer ?? '',
    ];
  });
  return [
    table(heads, [row(delivery)]),
    '',
    `URL    ${printable(delivery.url)}`,
    `Event  ${delivery.eventId}`,
    `Body   ${printable(delivery.body)}`,
    '',
    attempts.length === 0 ? 'No attempt yet.' : table(['ATTEMPT', 'STARTED', 'TOOK', 'STATUS', 'ANSWER'], attempts),
  ].join('\n');
}
