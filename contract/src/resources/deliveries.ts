import * as z from 'zod';
import { endpoints, filter, IdParam, item, list, listQuery, meta, NoBody } from '../endpoint.ts';
import { EventType } from '../event-types.ts';
import { Count, Id, Timestamp } from '../fields.ts';

export const DeliveryState = z.enum(['PENDING', 'DELIVERED', 'EXHAUSTED', 'CANCELLED']).meta({
  id: 'DeliveryState',
  description:
    'The state of a delivery. PENDING: the delivery is not finished. DELIVERED: the receiver returned 2xx. ' +
    'EXHAUSTED: every attempt failed. CANCELLED: the subscription was deactivated first.',
});
export type DeliveryState = z.output<typeof DeliveryState>;

const delivery = {
  id: Id,
  webhookId: Id.meta({ description: 'The subscription that receives the event.' }),
  eventId: z.string().meta({ description: 'The `webhook-id` header, which is the same on every attempt.' }),
  event: EventType,
  state: DeliveryState,
  attemptCount: Count.meta({
    description: 'The number of attempts since the delivery was created or last replayed.',
  }),
  nextAttemptAt: Timestamp.nullable().meta({
    description: 'The earliest time of the next attempt, or null if `state` is not PENDING.',
  }),
  createdAt: Timestamp.meta({ description: 'When the event occurred.' }),
  settledAt: Timestamp.nullable().meta({
    description: 'When `state` became DELIVERED, EXHAUSTED or CANCELLED, or null while it is PENDING.',
  }),
};

const example = {
  id: 1,
  webhookId: 1,
  eventId: 'evt_5d41402abc4b2a76b9719d911017c592',
  event: 'ticket.created',
  state: 'EXHAUSTED',
  attemptCount: 10,
  nextAttemptAt: null,
  createdAt: '2026-11-20T10:00:00.000Z',
  settledAt: '2026-11-23T14:10:05.000Z',
};

export const Delivery = z
  .object(delivery)
  .meta({ id: 'Delivery', description: 'The delivery of one event to one subscription.', example });
export type Delivery = z.output<typeof Delivery>;

export const DeliveryAttempt = z
  .object({
    number: Count.min(1).meta({
      description: 'The number of the attempt. Numbers start at 1, and start again at 1 after a replay.',
    }),
    startedAt: Timestamp.meta({ description: 'When the attempt started.' }),
    durationMs: Count.meta({ description: 'The duration of the attempt, in milliseconds.' }),
    status: Count.max(999)
      .nullable()
      .meta({ description: 'The HTTP status of the response, or null if there was none.' }),
    error: z.string().nullable().meta({ description: 'Why the attempt failed, or null if a response arrived.' }),
    answer: z.string().nullable().meta({
      description: 'The start of the response body, or null if the body is empty or may come from a private network.',
    }),
  })
  .meta({
    id: 'DeliveryAttempt',
    description: 'One attempt of a delivery and its result.',
    example: {
      number: 10,
      startedAt: '2026-11-23T14:10:04.700Z',
      durationMs: 212,
      status: 503,
      error: null,
      answer: 'Service Unavailable',
    },
  });
export type DeliveryAttempt = z.output<typeof DeliveryAttempt>;

/** The maximum number of attempts that the API returns for a delivery. The API omits older attempts. */
export const maxShownAttempts = 100;

export const DeliveryDetail = z
  .object({
    ...delivery,
    body: z.string().meta({ description: 'The exact body that the server sends.' }),
    attempts: z.array(DeliveryAttempt).meta({ description: `The last ${maxShownAttempts} attempts, oldest first.` }),
  })
  .meta({
    id: 'DeliveryDetail',
    description: 'A delivery and its attempts.',
    example: {
      ...example,
      body: '{"id":"evt_5d41402abc4b2a76b9719d911017c592","type":"ticket.created"}',
      attempts: [DeliveryAttempt.meta()?.example],
    },
  });
export type DeliveryDetail = z.output<typeof DeliveryDetail>;

export const DeliveryQuery = listQuery({ state: filter(DeliveryState) });
export type DeliveryQuery = z.output<typeof DeliveryQuery>;

export const deliveries = endpoints({
  list: {
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    summary: "List a subscription's deliveries",
    description:
      'Returns the newest deliveries first, for active and deactivated subscriptions. ' +
      'The server deletes deliveries 30 days after they finish.',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    query: DeliveryQuery,
    responses: { 200: list(Delivery) },
  },
  get: {
    method: 'GET',
    path: '/deliveries/:id',
    summary: 'Get a delivery with its attempts',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    responses: { 200: item(DeliveryDetail) },
  },
  replay: {
    method: 'POST',
    path: '/deliveries/:id/replay',
    summary: 'Send a delivery again',
    description:
      'Sends the delivery again immediately, regardless of its `state`. The `webhook-id` stays the same. ' +
      'Attempt numbers start at 1 again. ' +
      'If an attempt is in progress, the request has no effect. ' +
      'If the circuit breaker is open, the server sends this delivery as a test. ' +
      'If the subscription has `paused: true`, the server sends the delivery after you set `paused: false`.',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    body: NoBody,
    responses: { 200: item(Delivery) },
  },
});
