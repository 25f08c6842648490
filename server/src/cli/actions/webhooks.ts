import { EventType, integerFromText, NewWebhook, WebhookPatch } from '@itsm-api/contract';
import * as z from 'zod';
import { sendTestEvent } from '../../resources/deliveries/queries.ts';
import { activeTenantContext, tenantContext } from '../../resources/tenants/queries.ts';
import { FilterPairs } from '../../resources/webhooks/filter-text.ts';
import { getWebhook, listWebhooks, type TrackedWebhook } from '../../resources/webhooks/queries.ts';
import {
  activateWebhook,
  createWebhook,
  deleteWebhook,
  updateWebhook,
} from '../../resources/webhooks/webhook-management.ts';
import { eventList } from '../lib/event-list.ts';
import { shell } from '../lib/help.ts';
import { firstOf, Limit, moreHint } from '../lib/listing.ts';
import { statusLabel } from '../lib/output.ts';
import { action } from '../lib/run-command.ts';
import { TrueOrFalse, updateInput } from '../lib/update.ts';

const Named = z.strictObject({ tenant: z.string(), id: integerFromText() });

export const list = action({
  input: z.strictObject({ tenant: z.string(), all: z.boolean().default(false), limit: Limit }),
  work: async (runtime, { tenant, all, limit }) => {
    const context = await tenantContext(runtime, tenant);
    return firstOf(limit, (page) => listWebhooks(context, page, { inactive: all }));
  },
  format: (found, { table, time }) =>
    table(
      ['ID', 'URL', 'EVENTS', 'HEALTH', 'LAST SUCCESS', 'LAST FAILURE'],
      found.map((webhook) => {
        const { id, url, events, health, lastSuccessAt, lastFailureAt } = webhook;
        const moments = [time(lastSuccessAt, 'never'), time(lastFailureAt, 'never')];
        return [id, url, events.join(','), statusLabel(health), ...moments];
      }),
    ),
  hint: moreHint,
});

export const show = action({
  input: Named,
  work: async (runtime, { tenant, id }) => getWebhook(await tenantContext(runtime, tenant), id),
  format: (webhook, { card, time }) =>
    card({
      ...{ id: webhook.id, url: webhook.url, events: webhook.events.join(', ') },
      filter: webhook.filter && JSON.stringify(webhook.filter),
      health: statusLabel(webhook.health),
      reason: webhook.healthReason ?? undefined,
      'paused since': webhook.pausedAt === null ? undefined : time(webhook.pausedAt),
      'next attempt': webhook.nextAttemptAt === null ? undefined : time(webhook.nextAttemptAt),
      'last success': time(webhook.lastSuccessAt, 'never'),
      'last failure': time(webhook.lastFailureAt, 'never'),
      created: time(webhook.createdAt),
      updated: time(webhook.updatedAt),
    }),
  next: ({ id, active }, { tenant }) => (active ? [shell`webhooks test ${id} --tenant ${tenant}`] : []),
});

export const create = action({
  input: NewWebhook.pick({ url: true }).extend({
    tenant: z.string(),
    events: eventList,
    secret: NewWebhook.shape.secret,
    filter: FilterPairs.pipe(NewWebhook.shape.filter.unwrap().unwrap()).optional(),
  }),
  work: async (runtime, { tenant, ...webhook }) => createWebhook(await activeTenantContext(runtime, tenant), webhook),
  format: (made) => made.secret ?? formatCreated(made),
  hint: (made) =>
    made.secret !== undefined
      ? `${formatCreated(made)} Use the signing secret to verify deliveries. You can't display it again.`
      : undefined,
  next: ({ id }, { tenant }) => [
    shell`webhooks test ${id} --tenant ${tenant}`,
    shell`deliveries list --tenant ${tenant} --subscription ${id}`,
  ],
});

export const update = action({
  input: updateInput(Named.shape, {
    url: WebhookPatch.shape.url,
    secret: WebhookPatch.shape.secret,
    events: eventList.optional(),
    filter: FilterPairs.nullable().optional(),
    paused: TrueOrFalse.optional(),
  }),
  work: async (runtime, { tenant, id, ...patch }) =>
    updateWebhook(await activeTenantContext(runtime, tenant), id, patch),
  format: formatStatus,
});

export const test = action({
  input: Named.extend({ event: EventType.optional() }),
  work: async (runtime, { tenant, id, event }) => sendTestEvent(await activeTenantContext(runtime, tenant), id, event),
  format: (delivery) => `Queued the delivery ${delivery.id} of an example ${delivery.event} event.`,
  next: ({ id }, { tenant }) => [shell`deliveries show ${id} --tenant ${tenant}`],
});

export const deactivate = action({
  input: Named,
  work: async (runtime, { tenant, id }) => deleteWebhook(await tenantContext(runtime, tenant), id),
  format: formatStatus,
});

export const activate = action({
  input: Named,
  work: async (runtime, { tenant, id }) => activateWebhook(await activeTenantContext(runtime, tenant), id),
  format: formatStatus,
  next: ({ id }, { tenant }) => [shell`webhooks test ${id} --tenant ${tenant}`],
});

function formatCreated({ id, url, events }: TrackedWebhook): string {
  return `Created the subscription ${id}, which sends ${events.join(', ')} to ${url}.`;
}

function formatStatus({ id, url, events, health }: TrackedWebhook): string {
  return `The subscription ${id}, which sends ${events.join(', ')} to ${url}, is ${health}.`;
}
