import * as z from 'zod';
import { endpoints, IdParam, item, list, listQuery, meta, NoBody, patch } from '../endpoint.ts';
import { EventType } from '../event-types.ts';
import { Id, responseText, Timestamp, TimestampInput, text, validateAll, versionFields } from '../fields.ts';
import { Delivery, DeliveryState } from './deliveries.ts';

const Url = text(1, 2048).meta({
  description: 'The URL that receives events. It must use https and a public host, without a user name or password.',
  format: 'uri',
  example: 'https://hooks.example.com/itsm',
});
const Secret = text(1, 256).meta({ description: 'The signing secret. Use at least 24 characters.' });
const Events = z.array(EventType).min(1).max(100).meta({ description: 'The subscribed event types.' });
const SkipOwn = z.boolean().meta({
  description:
    'Whether to skip events that are caused by the API key that created the subscription, ' +
    'or by a key that replaced it through rotation.',
});

/** The limits of a subscription's filter: the number of fields, values per field, and characters per text value. */
export const filterLimits = { fields: 10, values: 100, text: 255 } as const;

const FilterValue = z
  .union([text(0, filterLimits.text), z.number(), z.boolean(), z.null()], {
    error: `must be a string of at most ${filterLimits.text} characters, a number, true, false or null`,
  })
  .meta({ id: 'WebhookFilterValue', description: 'A value to compare with a field of the resource.' });

const Filter = z
  .record(text(1, 100), z.array(FilterValue).min(1).max(filterLimits.values))
  .refine((filter) => Object.keys(filter).length > 0, 'must contain at least one field')
  .refine((filter) => Object.keys(filter).length <= filterLimits.fields, {
    ...validateAll,
    error: `must contain at most ${filterLimits.fields} fields`,
  })
  .meta({
    description:
      'The filter for events, or null to deliver all events. ' +
      'Each key is a top-level field of the resource, with a list of values. ' +
      'An event matches if every field in the filter has one of the listed values, before or after the change. ' +
      'A field with a list has all values of its items. ' +
      'The key `customFields.site` means the custom field `site`. ' +
      'Every subscribed event type must have these fields. ' +
      `A filter has at most ${filterLimits.fields} fields with ${filterLimits.values} values each.`,
    example: { priority: ['HIGH', 'CRITICAL'] },
  });
export type WebhookFilter = z.output<typeof Filter>;

export const WebhookHealth = z.enum(['HEALTHY', 'RETRYING', 'CIRCUIT_OPEN', 'PAUSED', 'INACTIVE']).meta({
  id: 'WebhookHealth',
  description:
    'The health of a subscription. HEALTHY: the last attempt succeeded, or there was no attempt. ' +
    'RETRYING: the last attempt failed, and deliveries continue. ' +
    'CIRCUIT_OPEN: several consecutive attempts failed, and the server sends nothing until `nextAttemptAt`. ' +
    'PAUSED: the subscription is paused, and `pausedReason` describes why. ' +
    'INACTIVE: the subscription was deactivated.',
});
export type WebhookHealth = z.output<typeof WebhookHealth>;

/** The maximum number of active subscriptions in a workspace (docs/decisions/webhook-subscriptions.md). */
export const maxActiveWebhooks = 100;

/** The default maximum number of pending deliveries in a workspace. A server setting can override this default. */
export const maxPendingDeliveries = 1_000_000;

export const Webhook = z
  .object({
    id: Id,
    url: responseText(Url),
    events: Events,
    filter: Filter.nullable(),
    skipOwn: SkipOwn,
    active: z.boolean().meta({
      description:
        'Whether the subscription is active. Inactive subscriptions receive no events. ' +
        'You can reactivate them in the developer area or on the command line, but not with the API.',
    }),
    health: WebhookHealth,
    nextAttemptAt: Timestamp.nullable().meta({
      description:
        'When the circuit breaker allows the next attempt. Null if the circuit breaker is closed or half-open, ' +
        'or if `paused: true` stops deliveries. Replays and test events do not wait for this time.',
    }),
    lastSuccessAt: Timestamp.nullable().meta({
      description: 'When a delivery last succeeded, or null if no delivery has succeeded yet.',
    }),
    lastFailureAt: Timestamp.nullable().meta({
      description: 'When an attempt last failed, or null if no attempt has failed yet.',
    }),
    pausedAt: Timestamp.nullable().meta({
      description:
        'When the subscription was paused, or null if it is not paused. ' +
        'The cause is `paused: true`, failed deliveries or the quota.',
    }),
    pausedReason: z
      .string()
      .nullable()
      .meta({
        description:
          'Why the subscription is paused: `QUOTA`, or a sentence that describes the reason. Null if not paused. ' +
          '`QUOTA` means that the workspace has too many pending deliveries. The server still sends pending events, ' +
          'but queues no new events for this subscription. ' +
          'To catch up, read the change feeds, such as `GET /tickets/changes`. ' +
          'Queueing resumes when the number of pending deliveries is below half of the limit.',
      }),
    ...versionFields,
  })
  .meta({
    id: 'Webhook',
    description: 'A webhook subscription, without its signing secret.',
    example: {
      id: 1,
      url: 'https://hooks.example.com/itsm',
      events: ['ticket.created', 'ticket.updated'],
      filter: { priority: ['HIGH', 'CRITICAL'] },
      skipOwn: false,
      active: true,
      health: 'HEALTHY',
      nextAttemptAt: null,
      lastSuccessAt: '2026-11-20T10:00:00.000Z',
      lastFailureAt: null,
      pausedAt: null,
      pausedReason: null,
      createdAt: '2026-10-01T08:00:00.000Z',
      updatedAt: '2026-10-01T08:00:00.000Z',
      etag: '"1-mup8um80"',
    },
  });
export type Webhook = z.output<typeof Webhook>;

export const CreatedWebhook = Webhook.extend({
  secret: z
    .string()
    .optional()
    .meta({ description: 'The generated signing secret. Store it safely. Absent if the request contained a secret.' }),
}).meta({
  id: 'CreatedWebhook',
  description:
    'A new subscription, with its signing secret if the server generated it. No other endpoint returns the secret.',
  example: Webhook.meta()?.example,
});
export type CreatedWebhook = z.output<typeof CreatedWebhook>;

export const NewWebhook = z
  .strictObject({
    url: Url,
    secret: Secret.optional().meta({
      description:
        'The signing secret. Use at least 24 characters. If absent, the server generates a secret and returns it.',
    }),
    events: Events,
    filter: Filter.nullish(),
    skipOwn: SkipOwn.optional(),
    paused: z
      .boolean()
      .optional()
      .meta({
        description:
          'Whether the subscription starts paused. With `true`, the server queues events and sends nothing ' +
          'until you update the subscription with `paused: false`.',
      }),
  })
  .meta({
    id: 'NewWebhook',
    description: 'A new webhook subscription.',
    example: {
      url: 'https://hooks.example.com/itsm',
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      events: ['ticket.created', 'ticket.updated'],
    },
  });
export type NewWebhook = z.output<typeof NewWebhook>;

/** How long the previous signing secret stays valid after a rotation, in hours. */
export const secretOverlapHours = 24;

export const WebhookPatch = patch({
  url: Url.optional(),
  secret: Secret.optional().meta({
    description: `The new signing secret. For ${secretOverlapHours} hours, \`webhook-signature\` also contains a signature with the previous secret.`,
  }),
  events: Events.optional(),
  filter: Filter.nullable().optional(),
  skipOwn: SkipOwn.optional(),
  paused: z
    .boolean()
    .optional()
    .meta({
      description:
        'Whether deliveries are paused. With `true`, the server queues events and sends nothing. ' +
        'With `false`, the server resumes deliveries and resets the count of failures. ' +
        'A pause with the reason `QUOTA` continues until fewer deliveries are pending.',
    }),
}).meta({
  id: 'WebhookPatch',
  description: 'Changes to a subscription. Absent fields stay unchanged, and null clears a field.',
  example: { events: ['ticket.created', 'ticket.updated'] },
});
export type WebhookPatch = z.output<typeof WebhookPatch>;

export const WebhookReplay = z
  .strictObject({
    since: TimestampInput.refine(
      // Accepts times up to a minute in the future, because the client's clock may be ahead.
      (moment) => Date.parse(moment) <= Date.now() + 60_000,
      'must not be in the future',
    ).meta({
      description: 'The replay sends only deliveries created at or after this time.',
    }),
    states: z
      .array(DeliveryState)
      .min(1)
      .max(DeliveryState.options.length)
      .optional()
      .meta({
        description:
          'The replay sends only deliveries in one of these states. The default is EXHAUSTED. ' +
          'With PENDING, the server immediately sends the deliveries that wait for a retry.',
      }),
  })
  .meta({
    id: 'WebhookReplay',
    description: 'The deliveries to send again.',
    example: { since: '2026-11-20T10:00:00Z' },
  });
export type WebhookReplay = z.output<typeof WebhookReplay>;

/** The maximum number of concurrent replays of a subscription. */
export const maxReplays = 10;

/** The maximum number of deliveries that the server counts to estimate the size of a replay. */
export const maxCountedReplay = 10_000;

export const WebhookReplayStarted = z
  .object({
    webhookId: Id.meta({ description: 'The subscription of the deliveries.' }),
    since: Timestamp.meta({ description: 'The replay sends only deliveries created at or after this time.' }),
    states: z.array(DeliveryState).meta({ description: 'The replay sends deliveries in one of these states.' }),
    matching: z
      .int()
      .min(0)
      .max(maxCountedReplay)
      .meta({
        description: `The number of matching deliveries. Counting stops at ${maxCountedReplay}.`,
      }),
    paused: z.boolean().meta({
      description:
        'Whether the deliveries wait because the subscription has `paused: true`. ' +
        'To send them, update the subscription with `paused: false`.',
    }),
  })
  .meta({
    id: 'WebhookReplayStarted',
    description: 'A replay that has started.',
    example: { webhookId: 1, since: '2026-11-20T10:00:00.000Z', states: ['EXHAUSTED'], matching: 131, paused: false },
  });
export type WebhookReplayStarted = z.output<typeof WebhookReplayStarted>;

export const WebhookQuery = listQuery({});
export type WebhookQuery = z.output<typeof WebhookQuery>;

export const webhooks = endpoints({
  list: {
    method: 'GET',
    path: '/webhooks',
    summary: 'List active webhook subscriptions',
    description: 'Returns the newest subscriptions first.',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    query: WebhookQuery,
    responses: { 200: list(Webhook) },
  },
  get: {
    method: 'GET',
    path: '/webhooks/:id',
    summary: 'Get a webhook subscription',
    description: 'Returns the subscription even if it is deactivated.',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    responses: { 200: item(Webhook) },
  },
  create: {
    method: 'POST',
    path: '/webhooks',
    summary: 'Register a webhook subscription',
    description:
      'If `secret` is absent, the server generates a signing secret. Only this response contains the secret. ' +
      'If you repeat the request with the same `Idempotency-Key`, you get the secret again. ' +
      `A workspace can have at most ${maxActiveWebhooks} active subscriptions.`,
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    body: NewWebhook,
    responses: { 201: item(CreatedWebhook) },
  },
  update: {
    method: 'PATCH',
    path: '/webhooks/:id',
    summary: 'Change, pause or resume a webhook subscription',
    description:
      'Pending deliveries use the changed settings, such as the new URL and the new signing secret. ' +
      'A new URL resets the count of failures. If the subscription is deactivated, the server returns `NOT_FOUND`.',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    body: WebhookPatch,
    responses: { 200: item(Webhook) },
  },
  test: {
    method: 'POST',
    path: '/webhooks/:id/test',
    summary: 'Send a test event to a subscription',
    description:
      'Sends an event of the first subscribed type with the example resource from this document, and ignores the filter. ' +
      'The `webhook-id` starts with `evt_test_`. Returns the delivery, which records each attempt. ' +
      'The server sends the event even if the circuit breaker is open. A 2xx response closes the circuit breaker. ' +
      'If the subscription has `paused: true`, the server sends the event after you set `paused: false`.',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    body: NoBody,
    responses: { 201: item(Delivery) },
  },
  replay: {
    method: 'POST',
    path: '/webhooks/:id/replay',
    summary: 'Send the deliveries of a subscription again',
    description:
      'Returns immediately and sends the deliveries in the background, oldest first, with the same `webhook-id`. ' +
      'The replay includes only deliveries that already had a matching `state` when you sent the request. ' +
      'If the circuit breaker is open, the server immediately sends one delivery as a test. ' +
      'A success closes the circuit breaker. ' +
      'If the subscription has `paused: true`, the server sends the deliveries after you set `paused: false`. ' +
      `A subscription can have at most ${maxReplays} replays in progress.`,
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    body: WebhookReplay,
    responses: { 200: item(WebhookReplayStarted) },
  },
  delete: {
    method: 'DELETE',
    path: '/webhooks/:id',
    summary: 'Deactivate a webhook subscription',
    description:
      'Returns the deactivated subscription. The server cancels pending deliveries. ' +
      'If you repeat the request, it has no further effect. ' +
      'You can reactivate the subscription in the developer area or on the command line, but not with the API.',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    responses: { 200: item(Webhook) },
  },
});
