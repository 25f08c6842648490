import { initContract } from '@ts-rest/core';
import './messages.ts';
import { activities } from './activities.ts';
import { assets } from './assets.ts';
import { comments } from './comments.ts';
import { deliveries } from './deliveries.ts';
import { ErrorEnvelope } from './errors.ts';
import { me } from './me.ts';
import { ping } from './ping.ts';
import { projects } from './projects.ts';
import { tasks } from './tasks.ts';
import { tickets } from './tickets.ts';
import { users } from './users.ts';
import { webhooks } from './webhooks.ts';

/** The prefix of every path, which contains the version (spec §9). */
export const pathPrefix = '/api/public/v1';

/**
 * Defines every endpoint of the API: method, path, query, body, responses, scope and group.
 * The server, the client, the OpenAPI document and the rule tests are built from this value.
 */
export const contract = initContract().router(
  { ping, me, tickets, comments, assets, activities, projects, tasks, users, webhooks, deliveries },
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

export * from './activities.ts';
export * from './assets.ts';
export * from './bulk.ts';
export * from './changes.ts';
export * from './comments.ts';
export * from './deliveries.ts';
export * from './delivery-schedule.ts';
export * from './endpoint.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './field-changes.ts';
export * from './fields.ts';
export * from './idempotency.ts';
export * from './limits.ts';
export * from './me.ts';
export * from './ping.ts';
export * from './projects.ts';
export * from './scopes.ts';
export * from './tasks.ts';
export * from './tickets.ts';
export * from './users.ts';
export * from './webhooks.ts';
