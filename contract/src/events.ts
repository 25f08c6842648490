import * as z from 'zod';
import type { EventType } from './event-types.ts';
import { Actor, Timestamp } from './fields.ts';
import { Asset } from './resources/assets.ts';
import { EventComment } from './resources/comments.ts';
import { Task, TaskChanges } from './resources/tasks.ts';
import { Ticket, TicketChanges } from './resources/tickets.ts';

/**
 * Defines the four public events (spec §6). Each entry contains the condition for the event, the key and schema of its
 * payload, and the schema of its changes. The outbox, the subscriptions, the OpenAPI document and the client read this
 * table.
 */
export const events = {
  'ticket.created': { when: 'A ticket is created.', key: 'ticket', payload: Ticket, changes: undefined },
  'ticket.updated': { when: 'A ticket is updated.', key: 'ticket', payload: Ticket, changes: TicketChanges },
  'asset.created': { when: 'An asset is created.', key: 'asset', payload: Asset, changes: undefined },
  'task.updated': { when: 'A project task is updated.', key: 'task', payload: Task, changes: TaskChanges },
} as const satisfies Record<EventType, object>;

/** The resource that an event contains, by event type. */
export type EventPayload<Type extends EventType> = z.output<(typeof events)[Type]['payload']>;

const comment = EventComment.meta({
  description:
    'The new comment, if the update is a comment. INTERNAL comments are included: ' +
    "check `visibility` before you pass the text on. The `changes` of the event don't contain the text.",
});

/** The body of a webhook delivery, by event type. */
export type DeliveryBody<Type extends EventType> = Type extends EventType
  ? { id: string; type: Type; timestamp: string; actor: Actor } & Record<Definition<Type>['key'], EventPayload<Type>> &
      (Definition<Type>['changes'] extends z.ZodType<infer Changes> ? { changes: Changes } : unknown) &
      (Type extends 'ticket.updated' ? { comment?: z.output<typeof comment> | undefined } : unknown)
  : never;
type Definition<Type extends EventType> = (typeof events)[Type];

/** Returns the schema of a webhook delivery body (docs/decisions/webhook-deliveries.md). */
export function deliveryBody<Type extends EventType>(type: Type): z.ZodType<DeliveryBody<Type>> {
  const { key, payload, changes }: (typeof events)[EventType] = events[type];
  const body: z.ZodType = z.object({
    id: z.string().meta({
      description: 'The id of the event. Every attempt has the same id. Use the id to deduplicate events.',
      example: 'evt_01994f6a8d9c7e0f',
    }),
    type: z.literal(type).meta({ description: 'The type of the event.' }),
    timestamp: Timestamp.meta({
      description: 'When the event occurred: `updatedAt` of the resource. Sort the events of a resource by this time.',
    }),
    actor: Actor,
    [key]: payload.meta({ description: `The ${key} at the time of the event.` }),
    ...(changes && { changes }),
    ...(type === 'ticket.updated' && { comment: comment.optional() }),
  });
  return body as z.ZodType<DeliveryBody<Type>>;
}
