import * as z from 'zod';

export const EventType = z
  .enum(['ticket.created', 'ticket.updated', 'asset.created', 'task.updated'])
  .meta({ id: 'EventType', description: 'The type of an event.' });
export type EventType = z.output<typeof EventType>;
