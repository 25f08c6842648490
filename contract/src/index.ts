import { initContract } from '@ts-rest/core';
import './messages.ts';
import { ErrorEnvelope } from './errors.ts';
import { activities } from './resources/activities.ts';
import { articles } from './resources/articles.ts';
import { assets } from './resources/assets.ts';
import { comments } from './resources/comments.ts';
import { deliveries } from './resources/deliveries.ts';
import { links } from './resources/links.ts';
import { me } from './resources/me.ts';
import { ping } from './resources/ping.ts';
import { projects } from './resources/projects.ts';
import { tasks } from './resources/tasks.ts';
import { tickets } from './resources/tickets.ts';
import { users } from './resources/users.ts';
import { webhooks } from './resources/webhooks.ts';

/** The prefix of every API path, which contains the API version (spec §9). */
export const pathPrefix = '/api/public/v1';

/**
 * Defines every endpoint of the API: method, path, query, body, responses, scope and group. The server, the client, the
 * OpenAPI document and the tests in test/rules are derived from this contract.
 */
export const contract = initContract().router(
  { ping, me, tickets, comments, links, assets, articles, activities, projects, tasks, users, webhooks, deliveries },
  {
    pathPrefix,
    strictStatusCodes: true,
    commonResponses: {
      400: ErrorEnvelope,
      401: ErrorEnvelope,
      403: ErrorEnvelope,
      404: ErrorEnvelope,
      412: ErrorEnvelope,
      429: ErrorEnvelope,
      500: ErrorEnvelope,
    },
  },
);
export type Contract = typeof contract;

export * from './bulk.ts';
export * from './changes.ts';
export * from './delivery-schedule.ts';
export * from './deprecation.ts';
export * from './endpoint.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './field-diff.ts';
export * from './fields.ts';
export * from './idempotency.ts';
export * from './imports.ts';
export * from './limits.ts';
export * from './resources/activities.ts';
export * from './resources/articles.ts';
export * from './resources/assets.ts';
export * from './resources/comments.ts';
export * from './resources/deliveries.ts';
export * from './resources/links.ts';
export * from './resources/me.ts';
export * from './resources/ping.ts';
export * from './resources/projects.ts';
export * from './resources/tasks.ts';
export * from './resources/ticket-reference.ts';
export * from './resources/tickets.ts';
export * from './resources/users.ts';
export * from './resources/webhooks.ts';
export * from './scopes.ts';
