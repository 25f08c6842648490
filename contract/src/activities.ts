import * as z from 'zod';
import { endpoints, IdParam, list, listQuery, meta } from './endpoint.ts';
import { Changes } from './events.ts';
import { Actor, Id, Timestamp } from './fields.ts';
import { TicketIdParam } from './tickets.ts';

export const ActivityAction = z.enum(['CREATED', 'UPDATED', 'COMMENTED']).meta({
  id: 'ActivityAction',
  description: 'What was done to the resource.',
});
export type ActivityAction = z.output<typeof ActivityAction>;

/** How much of a text activity keeps of a change: UTF-16 units, after which `…` stands. */
export const activityTextLength = 1000;

export const Activity = z
  .object({
    id: Id,
    at: Timestamp.meta({ description: 'When it was done.' }),
    action: ActivityAction,
    actor: Actor,
    changes: Changes,
  })
  .meta({
    id: 'Activity',
    description:
      'Something that was done to a ticket or an asset. `changes` are those of events, and empty for CREATED; of a ' +
      `longer text they hold the first ${activityTextLength} characters and \`…\`, and of \`customFields\` those that ` +
      `differ, which share ${activityTextLength} characters; a list that is cut is the beginning of its JSON.`,
    example: {
      id: 9120,
      at: '2026-11-20T10:05:00.000Z',
      action: 'UPDATED',
      actor: { userId: 3, keyId: 12 },
      changes: { status: { from: 'OPEN', to: 'RESOLVED' } },
    },
  });
export type Activity = z.output<typeof Activity>;

export const ActivityQuery = listQuery({});
export type ActivityQuery = z.output<typeof ActivityQuery>;

const description = 'Newest first. It begins with the release that keeps it: what was done before is not told.';

export const activities = endpoints({
  ofTicket: {
    method: 'GET',
    path: '/tickets/:id/activity',
    summary: 'List what was done to a ticket',
    description,
    metadata: meta({ scope: 'tickets:read', group: 'tickets' }),
    pathParams: TicketIdParam,
    query: ActivityQuery,
    responses: { 200: list(Activity) },
  },
  ofAsset: {
    method: 'GET',
    path: '/assets/:id/activity',
    summary: 'List what was done to an asset',
    description,
    metadata: meta({ scope: 'assets:read', group: 'assets' }),
    pathParams: IdParam,
    query: ActivityQuery,
    responses: { 200: list(Activity) },
  },
});
