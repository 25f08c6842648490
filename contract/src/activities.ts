import * as z from 'zod';
import { AssetChanges } from './assets.ts';
import { endpoints, IdParam, list, listQuery, meta } from './endpoint.ts';
import { Actor, Id, Timestamp } from './fields.ts';
import { TicketChanges, TicketIdParam } from './tickets.ts';

export const ActivityAction = z.enum(['CREATED', 'UPDATED', 'COMMENTED']).meta({
  id: 'ActivityAction',
  description: 'What was done to the resource.',
});
export type ActivityAction = z.output<typeof ActivityAction>;

/** How much of a text activity keeps of a change: UTF-16 units, after which `…` stands. */
export const activityTextLength = 1000;

/** What was done to a resource, with what such a resource may change. */
function activity<Fields extends z.ZodObject>(id: string, { resource, changes, example }: Kind<Fields>) {
  return z
    .object({
      id: Id,
      at: Timestamp.meta({ description: 'When it was done.' }),
      action: ActivityAction,
      actor: Actor,
      changes: changes.meta({
        description:
          'What changed, as events tell it; empty for CREATED. Of a longer text there are the first ' +
          `${activityTextLength} characters and \`…\`; of \`customFields\` those that differ, which share as many, and ` +
          'of a list that is longer the beginning of its JSON.',
      }),
    })
    .meta({
      id,
      description: `Something that was done to ${resource}.`,
      example: {
        id: 9120,
        at: '2026-11-20T10:05:00.000Z',
        action: 'UPDATED',
        actor: { userId: 1, keyId: 1 },
        changes: example,
      },
    });
}

/** The kind of resource, as a sentence has it, and what may change in one. */
interface Kind<Fields> {
  resource: string;
  changes: Fields;
  example: object;
}

export const TicketActivity = activity('TicketActivity', {
  resource: 'a ticket',
  changes: TicketChanges,
  example: { status: { from: 'OPEN', to: 'RESOLVED' } },
});
export type TicketActivity = z.output<typeof TicketActivity>;

export const AssetActivity = activity('AssetActivity', {
  resource: 'an asset',
  changes: AssetChanges,
  example: { status: { from: 'IN_USE', to: 'IN_STOCK' } },
});
export type AssetActivity = z.output<typeof AssetActivity>;

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
    responses: { 200: list(TicketActivity) },
  },
  ofAsset: {
    method: 'GET',
    path: '/assets/:id/activity',
    summary: 'List what was done to an asset',
    description,
    metadata: meta({ scope: 'assets:read', group: 'assets' }),
    pathParams: IdParam,
    query: ActivityQuery,
    responses: { 200: list(AssetActivity) },
  },
});
