import * as z from 'zod';
import { newRowsOf } from '../changes.ts';
import { endpoints, IdParam, list, listQuery, meta } from '../endpoint.ts';
import { Actor, AssetId, Id, TicketId, Timestamp } from '../fields.ts';
import { AssetChanges } from './assets.ts';
import { TicketIdParam } from './ticket-reference.ts';
import { TicketChanges } from './tickets.ts';

export const ActivityAction = z.enum(['CREATED', 'UPDATED', 'COMMENTED']).meta({
  id: 'ActivityAction',
  description: 'The action on the resource.',
});
export type ActivityAction = z.output<typeof ActivityAction>;

/**
 * The maximum length of a text in an activity entry, in UTF-16 code units. The server cuts longer text and appends `…`.
 */
export const activityTextLength = 1000;

/** Returns the schema of an activity entry for one type of resource. */
function activity<Owner extends z.ZodRawShape, Fields extends z.ZodObject>(
  id: string,
  { resource, owner, changes, example }: Kind<Owner, Fields>,
) {
  return z
    .object({
      id: Id,
      ...owner,
      at: Timestamp.meta({ description: 'When the action occurred.' }),
      action: ActivityAction,
      actor: Actor,
      changes: changes.meta({
        description:
          'The changed fields, in the same form as in events. Empty for the action CREATED. ' +
          `Text with more than ${activityTextLength} characters is cut and ends with \`…\`. ` +
          '`customFields` has only the changed keys, ' +
          `and the ${activityTextLength} characters are divided equally among them. ` +
          'A list in `customFields` that exceeds its share becomes a string: the start of its JSON, then `…`.',
      }),
    })
    .meta({
      id,
      description: `An action on ${resource}.`,
      example: {
        id: 9120,
        at: '2026-11-20T10:05:00.000Z',
        action: 'UPDATED',
        actor: { userId: 1, keyId: 1 },
        ...example,
      },
    });
}

/** The properties of an activity entry that depend on the type of the resource. */
interface Kind<Owner, Fields> {
  /** The resource name with its article, such as `a ticket`. */
  resource: string;
  /** The field that contains the id of the resource. */
  owner: Owner;
  changes: Fields;
  /** Example values of the id and the changes. */
  example: Record<string, unknown>;
}

export const TicketActivity = activity('TicketActivity', {
  resource: 'a ticket',
  owner: { ticketId: TicketId.meta({ description: 'The ticket.' }) },
  changes: TicketChanges,
  example: { ticketId: 38, changes: { status: { from: 'OPEN', to: 'RESOLVED' } } },
});
export type TicketActivity = z.output<typeof TicketActivity>;

export const AssetActivity = activity('AssetActivity', {
  resource: 'an asset',
  owner: { assetId: AssetId.meta({ description: 'The asset.' }) },
  changes: AssetChanges,
  example: { assetId: 11, changes: { status: { from: 'IN_USE', to: 'IN_STOCK' } } },
});
export type AssetActivity = z.output<typeof AssetActivity>;

export const ActivityQuery = listQuery({});
export type ActivityQuery = z.output<typeof ActivityQuery>;

const description =
  'Returns the newest actions first. ' +
  "The list doesn't include actions that occurred before the server started to record activity.";

export const activities = endpoints({
  ofTicket: {
    method: 'GET',
    path: '/tickets/:id/activity',
    summary: 'List the activity of a ticket',
    description,
    metadata: meta({ scope: 'tickets:read', group: 'tickets' }),
    pathParams: TicketIdParam,
    query: ActivityQuery,
    responses: { 200: list(TicketActivity) },
  },
  ofTickets: newRowsOf(
    '/tickets/activity',
    'the activity of all tickets',
    TicketActivity,
    meta({ scope: 'tickets:read', group: 'tickets' }),
  ),
  ofAsset: {
    method: 'GET',
    path: '/assets/:id/activity',
    summary: 'List the activity of an asset',
    description,
    metadata: meta({ scope: 'assets:read', group: 'assets' }),
    pathParams: IdParam,
    query: ActivityQuery,
    responses: { 200: list(AssetActivity) },
  },
  ofAssets: newRowsOf(
    '/assets/activity',
    'the activity of all assets',
    AssetActivity,
    meta({ scope: 'assets:read', group: 'assets' }),
  ),
});
