import * as z from 'zod';
import { endpoints, filter, IdParam, item, list, listQuery, meta, NoBody, NoQuery } from './endpoint.ts';
import { EventType } from './events.ts';
import { Id, Timestamp } from './fields.ts';

export const DeliveryState = z.enum(['PENDING', 'DELIVERED', 'EXHAUSTED', 'CANCELLED']).meta({
  id: 'DeliveryState',
  description:
    'How far it is: PENDING until it is settled as DELIVERED, EXHAUSTED when every attempt has failed, or CANCELLED with its subscription.',
});
export type DeliveryState = z.output<typeof DeliveryState>;

const delivery = {
  id: Id,
  webhookId: Id.meta({ description: 'The subscription that it goes to.' }),
  eventId: z.string().meta({ description: 'The `webhook-id` that receivers get, the same on every attempt.' }),
  event: EventType,
  state: DeliveryState,
  attemptCount: z.int().min(0).meta({ description: 'Attempts begun since it was made, or last replayed.' }),
  nextAttemptAt: Timestamp.nullable().meta({ description: 'When it may be tried next; null unless it is PENDING.' }),
  createdAt: Timestamp.meta({ description: 'When the event happened.' }),
  settledAt: Timestamp.nullable().meta({
    description: 'When it was delivered, exhausted or cancelled; null while it is PENDING.',
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
  .meta({ id: 'Delivery', description: 'One event on its way to one subscription.', example });
export type Delivery = z.output<typeof Delivery>;

export const DeliveryAttempt = z
  .object({
    number: z.int().min(1).meta({ description: 'Counts from 1, and again from 1 when the delivery is replayed.' }),
    startedAt: Timestamp.meta({ description: 'When it began.' }),
    durationMs: z.int().min(0).meta({ description: 'How long it took, in milliseconds.' }),
    status: z.int().nullable().meta({ description: 'The HTTP status of the answer; null where none came.' }),
    error: z.string().nullable().meta({ description: 'What went wrong; null where an answer came.' }),
    answer: z
      .string()
      .nullable()
      .meta({ description: "The beginning of the answer's body; null where it may come of a private network." }),
  })
  .meta({
    id: 'DeliveryAttempt',
    description: 'What came of one attempt.',
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

/** How many attempts of a delivery are told, the last ones. */
export const maxToldAttempts = 100;

export const DeliveryDetail = z
  .object({
    ...delivery,
    body: z.string().meta({ description: 'What is sent, byte for byte.' }),
    attempts: z
      .array(DeliveryAttempt)
      .meta({ description: `Every attempt, oldest first: the last ${maxToldAttempts} where there were more.` }),
  })
  .meta({
    id: 'DeliveryDetail',
    description: 'A delivery with what came of it.',
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
    description: 'Newest first; settled ones are kept for 30 days. Those of a deactivated subscription, too.',
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
    query: NoQuery,
    responses: { 200: item(DeliveryDetail) },
  },
  replay: {
    method: 'POST',
    path: '/deliveries/:id/replay',
    summary: 'Send a delivery again',
    description:
      'At once, whatever its state, with the same `webhook-id` and all attempts before it. One that is being sent just ' +
      'now is left as it is. An open circuit becomes half-open, and this delivery is the one that is tried. ' +
      'After `paused: true` it waits for `paused: false`.',
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    pathParams: IdParam,
    query: NoQuery,
    body: NoBody,
    responses: { 200: item(Delivery) },
  },
});
