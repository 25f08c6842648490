import * as z from 'zod';
import { Delivery, DeliveryState } from './deliveries.ts';
import { endpoints, IdParam, item, list, listQuery, meta, NoBody, NoQuery, patch } from './endpoint.ts';
import { EventType } from './events.ts';
import { answered, despiteFaults, Id, Timestamp, TimestampInput, text, timestamps } from './fields.ts';

const Url = text(1, 2048).meta({
  description: 'Where events are sent: https, with a public host and without user info.',
  format: 'uri',
  example: 'https://hooks.example.com/itsm',
});
const Secret = text(1, 256).meta({ description: 'Signs each delivery; 24 characters or more are recommended.' });
const Events = z.array(EventType).min(1).max(100).meta({ description: 'The types of events that are sent.' });
const SkipOwn = z.boolean().meta({
  description:
    'Whether nothing is sent of what the key that made the subscription does itself, or one rotated from that key.',
});

/** How much a filter may ask for; `text` in characters. */
export const filterLimits = { fields: 10, values: 100, text: 255 } as const;

const FilterValue = z
  .union([text(0, filterLimits.text), z.number(), z.boolean(), z.null()], {
    error: `must be a string of at most ${filterLimits.text} characters, a number, true, false or null`,
  })
  .meta({ id: 'WebhookFilterValue', description: 'What a field of the resource may be.' });

const Filter = z
  .record(text(1, 100), z.array(FilterValue).min(1).max(filterLimits.values))
  .refine((filter) => Object.keys(filter).length > 0, 'must name at least one field')
  .refine((filter) => Object.keys(filter).length <= filterLimits.fields, {
    ...despiteFaults,
    error: `must name at most ${filterLimits.fields} fields`,
  })
  .meta({
    description:
      'Top-level fields of the resource, and values of each: only events are delivered in which every field named is ' +
      'one of its values, or was before the change. Each event of the subscription must have the fields. ' +
      `At most ${filterLimits.fields} fields of ${filterLimits.values} values.`,
    example: { priority: ['HIGH', 'CRITICAL'] },
  });
export type WebhookFilter = z.output<typeof Filter>;

export const WebhookHealth = z.enum(['HEALTHY', 'RETRYING', 'CIRCUIT_OPEN', 'PAUSED', 'INACTIVE']).meta({
  id: 'WebhookHealth',
  description:
    'HEALTHY: the last attempt succeeded, or there was none. RETRYING: the last attempt failed, and deliveries are sent. ' +
    'CIRCUIT_OPEN: attempts failed in a row, and nothing is sent until `nextAttemptAt`. PAUSED: see `pausedReason`. ' +
    'INACTIVE: the subscription was deactivated.',
});
export type WebhookHealth = z.output<typeof WebhookHealth>;

/** How many active subscriptions a workspace may have (docs/decisions/webhook-subscriptions.md). */
export const maxActiveWebhooks = 100;

/** How many deliveries of a workspace may be pending, unless the installation sets another limit. */
export const maxPendingDeliveries = 1_000_000;

export const Webhook = z
  .object({
    id: Id,
    url: answered(Url),
    events: Events,
    filter: Filter.nullable(),
    skipOwn: SkipOwn,
    active: z.boolean().meta({ description: 'Whether it is told of events: false once it was deactivated, for ever.' }),
    health: WebhookHealth,
    nextAttemptAt: Timestamp.nullable().meta({
      description:
        'When the circuit breaker next allows an attempt; null if it holds nothing back, or if `paused: true` does. ' +
        'A replay or a test event is sent sooner.',
    }),
    lastSuccessAt: Timestamp.nullable().meta({ description: 'When a delivery last arrived; null where none has.' }),
    lastFailureAt: Timestamp.nullable().meta({ description: 'When an attempt last failed; null where none has.' }),
    pausedAt: Timestamp.nullable().meta({
      description:
        'When the subscription was paused: by `paused`, because the endpoint failed, or by the quota; else null.',
    }),
    pausedReason: z
      .string()
      .nullable()
      .meta({
        description:
          'Why the subscription is paused, in words, or `QUOTA`: the workspace has reached its limit of pending deliveries. ' +
          'Then new events are not queued for this subscription, and those pending are still sent. Read the changes of each ' +
          'resource, such as `GET /tickets/changes`, to catch up. New events are queued again when fewer than half are pending.',
      }),
    ...timestamps,
  })
  .meta({
    id: 'Webhook',
    description: 'A subscription to events, without its secret.',
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
    },
  });
export type Webhook = z.output<typeof Webhook>;

export const CreatedWebhook = Webhook.extend({
  secret: z
    .string()
    .optional()
    .meta({ description: 'The secret that the server generated; absent if the request had one. Store it.' }),
}).meta({
  id: 'CreatedWebhook',
  description: 'A new subscription, with its secret if the server generated it. No other endpoint returns the secret.',
  example: Webhook.meta()?.example,
});
export type CreatedWebhook = z.output<typeof CreatedWebhook>;

export const NewWebhook = z
  .strictObject({
    url: Url,
    secret: Secret.optional().meta({
      description:
        'Signs each delivery; 24 characters or more are recommended. If absent, the server generates a secret and returns it.',
    }),
    events: Events,
    filter: Filter.nullish(),
    skipOwn: SkipOwn.optional(),
  })
  .meta({
    id: 'NewWebhook',
    description: 'A new subscription to events.',
    example: {
      url: 'https://hooks.example.com/itsm',
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      events: ['ticket.created', 'ticket.updated'],
    },
  });
export type NewWebhook = z.output<typeof NewWebhook>;

/** For how long the secret before signs, too, when a new one is given. */
export const secretOverlapHours = 24;

export const WebhookPatch = patch({
  url: Url.optional(),
  secret: Secret.optional().meta({
    description: `The new secret. The one before signs, too, for ${secretOverlapHours} hours, in \`webhook-signature\`.`,
  }),
  events: Events.optional(),
  filter: Filter.nullable().optional(),
  skipOwn: SkipOwn.optional(),
  paused: z
    .boolean()
    .optional()
    .meta({
      description:
        'Whether deliveries rest. `true`: events queue and nothing is sent. `false`: what waits is sent when it is due, ' +
        'whatever paused it, and failures before count no more.',
    }),
}).meta({
  id: 'WebhookPatch',
  description: 'Absent fields stay as they are; null clears.',
  example: { events: ['ticket.created', 'ticket.updated'] },
});
export type WebhookPatch = z.output<typeof WebhookPatch>;

export const WebhookReplay = z
  .strictObject({
    since: TimestampInput.refine(
      // The clock of whoever asks may be ahead.
      (moment) => Date.parse(moment) <= Date.now() + 60_000,
      'must not be in the future',
    ).meta({
      description: 'Deliveries that were made then or later.',
    }),
    states: z.array(DeliveryState).min(1).max(DeliveryState.options.length).optional().meta({
      description:
        'Those in one of these states; EXHAUSTED alone unless given. With PENDING what waits for another attempt is sent at once.',
    }),
  })
  .meta({
    id: 'WebhookReplay',
    description: 'Which deliveries are sent again.',
    example: { since: '2026-11-20T10:00:00Z' },
  });
export type WebhookReplay = z.output<typeof WebhookReplay>;

/** How many replays of a subscription may be under way. */
export const maxReplays = 10;

/** More deliveries aren't counted before they are replayed. */
export const maxCountedReplay = 10_000;

export const WebhookReplayStarted = z
  .object({
    webhookId: Id.meta({ description: 'The subscription whose deliveries they are.' }),
    since: Timestamp.meta({ description: 'Those that were made then or later.' }),
    states: z.array(DeliveryState).meta({ description: 'Those in one of these states.' }),
    matching: z
      .int()
      .min(0)
      .meta({
        description: `How many deliveries were found; ${maxCountedReplay} of them and more are not counted.`,
      }),
    paused: z.boolean().meta({
      description:
        'Whether `paused: true` holds the deliveries back. They are sent after a PATCH with `paused: false`.',
    }),
  })
  .meta({
    id: 'WebhookReplayStarted',
    description: 'What is being sent again from now on.',
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
    description: 'Newest first.',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    query: WebhookQuery,
    responses: { 200: list(Webhook) },
  },
  get: {
    method: 'GET',
    path: '/webhooks/:id',
    summary: 'Get a webhook subscription',
    description: 'One that was deactivated, too.',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    query: NoQuery,
    responses: { 200: item(Webhook) },
  },
  create: {
    method: 'POST',
    path: '/webhooks',
    summary: 'Register a webhook subscription',
    description:
      'Without `secret`, the server generates one and returns it in this response only, and if you repeat the request with ' +
      `the same \`Idempotency-Key\`. A workspace may have ${maxActiveWebhooks} active subscriptions.`,
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    query: NoQuery,
    body: NewWebhook,
    responses: { 201: item(CreatedWebhook) },
  },
  update: {
    method: 'PATCH',
    path: '/webhooks/:id',
    summary: 'Change, pause or resume a webhook subscription',
    description:
      'What waits is sent as the subscription is then: to the new URL, with the new secret. A new URL begins without ' +
      'the failures of the one before. One that was deactivated is `NOT_FOUND`.',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    query: NoQuery,
    body: WebhookPatch,
    responses: { 200: item(Webhook) },
  },
  test: {
    method: 'POST',
    path: '/webhooks/:id/test',
    summary: 'Send a subscription a test event',
    description:
      'Of the first type that it wants, with the example of this document as its resource, whatever its filter. Its ' +
      '`webhook-id` begins with `evt_test_`. Returns the delivery, which records each attempt. The event is sent ' +
      'although the circuit is open, and a 2xx closes it. After `paused: true` it waits.',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    query: NoQuery,
    body: NoBody,
    responses: { 201: item(Delivery) },
  },
  replay: {
    method: 'POST',
    path: '/webhooks/:id/replay',
    summary: 'Send deliveries of a subscription again',
    description:
      'Answers at once; they are sent again in the background, oldest first, with the same `webhook-id`. Only those that ' +
      'were settled before the request, or made before it where they are pending. An open circuit becomes half-open: one ' +
      'delivery is sent at once, and its success closes the circuit. After `paused: true` all wait for `paused: false`. ' +
      `A subscription may have ${maxReplays} replays under way.`,
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    query: NoQuery,
    body: WebhookReplay,
    responses: { 200: item(WebhookReplayStarted) },
  },
  delete: {
    method: 'DELETE',
    path: '/webhooks/:id',
    summary: 'Deactivate a webhook subscription',
    description: 'Answers the deactivated subscription, and again when repeated.',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    query: NoQuery,
    responses: { 200: item(Webhook) },
  },
});
