import * as z from 'zod';
import { Asset } from './assets.ts';
import { Actor, Timestamp } from './fields.ts';
import { Task } from './tasks.ts';
import { Ticket } from './tickets.ts';

/**
 * The four public events (spec §6): what fires each, the key and schema of its payload, and whether it tells changes.
 * The outbox, the subscriptions, the OpenAPI document and the client read this table.
 */
export const events = {
  'ticket.created': { when: 'A ticket is created.', key: 'ticket', payload: Ticket, changes: false },
  'ticket.updated': { when: 'A ticket is updated.', key: 'ticket', payload: Ticket, changes: true },
  'asset.created': { when: 'An asset is created.', key: 'asset', payload: Asset, changes: false },
  'task.updated': { when: 'A project task is updated.', key: 'task', payload: Task, changes: true },
} as const;

export type EventType = keyof typeof events;

export const EventType = z
  .enum(Object.keys(events) as [EventType, ...EventType[]])
  .meta({ id: 'EventType', description: 'The public events.' });

/** The resource that an event carries. */
export type EventPayload<Type extends EventType> = z.output<(typeof events)[Type]['payload']>;

/** What an update changed: each field that differs, with its value before and after. */
export const Changes = z
  .record(z.string(), z.object({ from: z.unknown(), to: z.unknown() }))
  .meta({ id: 'Changes', example: { status: { from: 'OPEN', to: 'RESOLVED' } } });
export type Changes = Record<string, { from: unknown; to: unknown }>;

/** The body of a delivery, one schema per event (docs/decisions/webhook-deliveries.md). */
export function deliveryBody(type: EventType) {
  const { key, payload, changes } = events[type];
  return z.object({
    id: z
      .string()
      .meta({ description: 'The same on every attempt: deduplicate by it.', example: 'evt_01994f6a8d9c7e0f' }),
    type: z.literal(type),
    timestamp: Timestamp,
    actor: Actor,
    [key]: payload,
    ...(changes ? { changes: Changes } : {}),
  });
}
