import * as z from 'zod';
import { Asset } from './assets.ts';
import { Actor, Timestamp } from './fields.ts';
import { Task, TaskChanges } from './tasks.ts';
import { Ticket, TicketChanges } from './tickets.ts';

/**
 * The four public events (spec §6): what fires each, the key and schema of its payload, and that of the changes it tells.
 * The outbox, the subscriptions, the OpenAPI document and the client read this table.
 */
export const events = {
  'ticket.created': { when: 'A ticket is created.', key: 'ticket', payload: Ticket, changes: undefined },
  'ticket.updated': { when: 'A ticket is updated.', key: 'ticket', payload: Ticket, changes: TicketChanges },
  'asset.created': { when: 'An asset is created.', key: 'asset', payload: Asset, changes: undefined },
  'task.updated': { when: 'A project task is updated.', key: 'task', payload: Task, changes: TaskChanges },
} as const;

export type EventType = keyof typeof events;

export const EventType = z
  .enum(Object.keys(events) as [EventType, ...EventType[]])
  .meta({ id: 'EventType', description: 'The type of an event: what happened.' });

/** The resource that an event carries. */
export type EventPayload<Type extends EventType> = z.output<(typeof events)[Type]['payload']>;

/** The body of a delivery, one schema per event (docs/decisions/webhook-deliveries.md). */
export function deliveryBody(type: EventType) {
  const { key, payload, changes } = events[type];
  return z.object({
    id: z
      .string()
      .meta({ description: 'The same on every attempt: deduplicate by it.', example: 'evt_01994f6a8d9c7e0f' }),
    type: z.literal(type).meta({ description: 'What happened.' }),
    timestamp: Timestamp.meta({
      description: "When it happened: the resource's `updatedAt`. Of two events the later state has the later one.",
    }),
    actor: Actor,
    [key]: payload.meta({ description: `The ${key} as it was then.` }),
    ...(changes && { changes }),
  });
}
