import { timingSafeEqual } from 'node:crypto';
import { styleText } from 'node:util';
import * as z from 'zod';
import { signatureHeaders } from '../../webhooks/delivery/sign.ts';
import { printable } from './cli-errors.ts';

/** What arrived, and whether its signatures are right; null where there is no secret to tell by. */
export interface ReceivedWebhook {
  at: string;
  verified: boolean | null;
  headers: Record<string, string>;
  body: unknown;
}

/** What of a delivery's body is told of in a few words, where it is one: anybody may send anything. */
const Delivery = z.object({
  ticket: z.object({ ticketNumber: z.string(), title: z.string() }).optional(),
  asset: z.object({ assetTag: z.string(), name: z.string() }).optional(),
  task: z.object({ id: z.number(), title: z.string() }).optional(),
  changes: z.record(z.string(), z.object({ from: z.unknown(), to: z.unknown() })).optional(),
});

/** Whether both signatures are what the secret makes of these bytes. */
export function isSigned(secret: string, headers: Record<string, string>, body: string): boolean {
  const timestamp = new Date(Number(headers['webhook-timestamp']) * 1000);
  if (Number.isNaN(timestamp.getTime())) return false;
  const right = signatureHeaders(secret, { id: headers['webhook-id'] ?? '', timestamp, body });
  return ['x-service-signature', 'webhook-signature'].every((name) => same(headers[name] ?? '', right[name] ?? ''));
}

/** A body as JSON, or as it came. */
export function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** A delivery for people: a line of what it is, one for each change, and with `body` all that came. */
export function linesOf({ at, verified, headers, body }: ReceivedWebhook, shown: { body: boolean }): string {
  const told = Delivery.safeParse(body).data ?? {};
  const attempt = headers['x-service-attempt'] ?? '?';
  const head = [
    styleText('dim', at.slice(11, 19)),
    styleText('bold', printable(headers['x-service-event'] ?? 'no event')),
    printable(subjectOf(told)),
    verdictOf(verified),
    styleText(
      'dim',
      printable(`${headers['webhook-id'] ?? 'no webhook-id'}${attempt === '1' ? '' : `, attempt ${attempt}`}`),
    ),
  ].filter((part) => part !== '');
  const changes = Object.entries(told.changes ?? {}).map(
    ([name, { from, to }]) => `          ${printable(name)}: ${short(from)} → ${short(to)}`,
  );
  const whole = typeof body === 'string' ? printable(body) : JSON.stringify(body, undefined, 2);
  return `${[head.join('  '), ...changes, ...(shown.body ? [whole] : [])].join('\n')}\n`;
}

function subjectOf({ ticket, asset, task }: z.infer<typeof Delivery>): string {
  if (ticket !== undefined) return `${ticket.ticketNumber} ${ticket.title}`;
  if (asset !== undefined) return `${asset.assetTag} ${asset.name}`;
  return task === undefined ? '' : `task ${task.id} ${task.title}`;
}

function verdictOf(verified: boolean | null): string {
  if (verified === null) return styleText('yellow', 'not verified: no --secret');
  return verified ? styleText('green', 'signatures right') : styleText('red', 'SIGNATURE WRONG');
}

function short(value: unknown): string {
  const text = printable(JSON.stringify(value) ?? 'nothing');
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

function same(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
