import * as z from 'zod';

/** The state of an alert after the last notification about it. The spool stores it as JSON. */
export const Alert = z.object({
  /** The 16 hex digits that identify the alert in the tag and the external ids of its tickets. */
  hash: z.string(),
  status: z.enum(['firing', 'resolved']),
  /** Whether the alert has fired since the service got its last state. Otherwise, its end needs no new ticket. */
  hasFired: z.boolean(),
  title: z.string(),
  description: z.string(),
  labels: z.record(z.string(), z.string()),
  /** When the alert started, in UTC with milliseconds like the other times. */
  startsAt: z.string(),
  /** When the alert ended. Not meaningful for a firing alert. */
  endsAt: z.string(),
  receivedAt: z.string(),
});
export type Alert = z.output<typeof Alert>;

/**
 * Combines a waiting alert with a new notification about it. A firing notification always applies, because a
 * notification system can report an alert again with its old start. An end before the start of the waiting alert is late.
 */
export function mergeAlerts(waiting: Alert, next: Alert): Alert {
  const { receivedAt, hasFired } = waiting;
  if (next.status === 'firing') return { ...next, receivedAt };
  if (waiting.status === 'firing' && next.endsAt < waiting.startsAt) return waiting;
  return { ...next, receivedAt, hasFired, startsAt: hasFired ? waiting.startsAt : next.startsAt };
}
