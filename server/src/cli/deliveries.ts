import { EventType, Id, integerFromText } from '@itsm-api/contract';
import type { Command } from 'commander';
import * as z from 'zod';

import { ApiError } from '../errors.ts';
import {
  type Delivery,
  type DeliveryDetail,
  DeliveryFilter,
  getDelivery,
  listDeliveries,
  replayDeliveries,
  sendTestEvent,
} from '../resources/deliveries/queries.ts';
import { activeTenantContext, tenantContext } from '../resources/tenants/queries.ts';
import { DeliveryState } from '../webhooks/delivery-state.ts';
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

export function addDeliveries(program: Command): void {
  const deliveries = program.command('deliveries').description('See and mend webhook deliveries');

  filtered(deliveries.command('list').description('List webhook deliveries, newest first'))
    .option('--limit <count>', 'how many at most', '50')
    .addHelpText('after', examples('deliveries list --tenant Acme', 'deliveries list --tenant Acme --state exhausted'))
    .action(
      action({
        input: filter.extend({ limit: integerFromText(Id.max(10_000)) }),
        work: async (runtime, { tenant, limit, ...which }) =>
          listDeliveries(await tenantContext(runtime, tenant), which, limit),
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
        work: async (runtime, { tenant, id }) => getDelivery(await tenantContext(runtime, tenant), id),
        format: detail,
      }),
    );

  filtered(
    deliveries
      .command('replay')
      .description(
        'Send deliveries again at once, with the same webhook-id: one by its id, or all that the options name',
      )
      .argument('[id]', 'id of the delivery'),
  )
    .addHelpText(
      'after',
      examples(
        'deliveries replay 12 --tenant Acme',
        'deliveries replay --tenant Acme --subscription 3 --state exhausted',
      ),
    )
    .action(
      action({
        input: filter
          .extend({ id: integerFromText().optional() })
          .refine(({ id, subscription, event, state }) => id ?? subscription ?? event ?? state, {
            path: ['id'],
            message: 'is required, or --subscription, --event or --state',
          }),
        work: async (runtime, { tenant, ...which }) => {
          const replayed = await replayDeliveries(await activeTenantContext(runtime, tenant), which);
          if (replayed === 0) throw new ApiError('NOT_FOUND', 'There is no such delivery to an active subscription.');
          return { replayed };
        },
        format: ({ replayed }) => `${replayed} ${replayed === 1 ? 'delivery is' : 'deliveries are'} being sent again.`,
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

function filtered(command: Command): Command {
  return command
    .requiredOption('--tenant <tenant>', 'name or id of the tenant')
    .option('--subscription <id>', 'only those to this subscription')
    .option('--event <event>', 'only those of this event type, or of the event with this id')
    .option('--state <state>', `only those that are ${DeliveryState.options.join(', ').toLowerCase()}`);
}

const heads = ['ID', 'SUBSCRIPTION', 'EVENT', 'STATE', 'ATTEMPTS', 'CREATED', 'NEXT ATTEMPT'];

function row(delivery: Delivery): string[] {
  const { id, subscriptionId, event, state, attempts, createdAt, nextAttemptAt } = delivery;
  return [String(id), String(subscriptionId), event, state, String(attempts), createdAt, nextAttemptAt ?? '-'];
}

function detail(delivery: DeliveryDetail): string {
  const attempts = delivery.history.map(({ number, startedAt, durationMs, status, error, answer }) => {
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
    `URL    ${delivery.url}`,
    `Event  ${delivery.eventId}`,
    `Body   ${delivery.body}`,
    '',
    attempts.length === 0 ? 'No attempt yet.' : table(['ATTEMPT', 'STARTED', 'TOOK', 'STATUS', 'ANSWER'], attempts),
  ].join('\n');
}
