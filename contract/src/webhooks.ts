import * as z from 'zod';
import { endpoints, IdParam, item, list, listQuery, meta, NoQuery } from './endpoint.ts';
import { EventType } from './events.ts';
import { answered, Id, Timestamp, text, timestamps } from './fields.ts';

const Url = text(1, 2048).meta({ format: 'uri', example: 'https://hooks.example.com/itsm' });
const Events = z.array(EventType).min(1).max(100);

/** How many active subscriptions a workspace may have (docs/decisions/webhook-subscriptions.md). */
export const maxActiveWebhooks = 100;

export const Webhook = z
  .object({
    id: Id,
    url: answered(Url),
    events: Events,
    active: z.boolean(),
    lastSuccessAt: Timestamp.nullable(),
    lastFailureAt: Timestamp.nullable(),
    pausedAt: Timestamp.nullable().meta({ description: 'Since when deliveries rest because the endpoint failed.' }),
    pausedReason: z.string().nullable(),
    ...timestamps,
  })
  .meta({
    id: 'Webhook',
    description: 'A subscription to events. Its secret is never answered.',
    example: {
      id: 5,
      url: 'https://hooks.example.com/itsm',
      events: ['ticket.created', 'ticket.updated'],
      active: true,
      lastSuccessAt: '2026-11-20T10:00:00.000Z',
      lastFailureAt: null,
      pausedAt: null,
      pausedReason: null,
      createdAt: '2026-10-01T08:00:00.000Z',
      updatedAt: '2026-10-01T08:00:00.000Z',
    },
  });
export type Webhook = z.output<typeof Webhook>;

export const NewWebhook = z
  .strictObject({
    url: Url.meta({ description: 'https, with a public host and without user info.' }),
    secret: text(1, 256).meta({ description: 'Signs each delivery; 24 characters or more are recommended.' }),
    events: Events,
  })
  .meta({
    id: 'NewWebhook',
    example: {
      url: 'https://hooks.example.com/itsm',
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      events: ['ticket.created', 'ticket.updated'],
    },
  });
export type NewWebhook = z.output<typeof NewWebhook>;

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
    description: `A workspace may have ${maxActiveWebhooks} active subscriptions.`,
    metadata: meta({ scope: 'webhooks:manage', group: 'webhooks' }),
    query: NoQuery,
    body: NewWebhook,
    responses: { 201: item(Webhook) },
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
