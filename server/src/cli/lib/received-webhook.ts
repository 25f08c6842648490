import { timingSafeEqual } from 'node:crypto';
import { styleText } from 'node:util';
import * as z from 'zod';
import { signatureHeaders } from '../../webhooks/delivery/sign.ts';
import { printable } from './cli-errors.ts';

/** A webhook request that `itsm listen` received. */
export interface ReceivedWebhook {
  at: string;
  /** Whether both signature headers are valid. Null if `itsm listen` has no signing secret. */
  verified: boolean | null;
  headers: Record<string, string>;
  body: unknown;
}

/**
 * The body fields that `itsm listen` prints. All fields are optional, because any client can send any body to a public
 * address.
 */
const DeliveryBody = z.object({
  ticket: z.object({ ticketNumber: z.string(), title: z.string() }).optional(),
  asset: z.object({ assetTag: z.string(), name: z.string() }).optional(),
  task: z.object({ id: z.number(), title: z.string() }).optional(),
  changes: z.record(z.string(), z.object({ from: z.unknown(), to: z.unknown() })).optional(),
});

/** Returns true if both signature headers match the secret and the body. */
export function isSigned(secret: string, headers: Record<string, string>, body: string): boolean {
  const timestamp = new Date(Number(headers['webhook-timestamp']) * 1000);
  if (Number.isNaN(timestamp.getTime())) return false;
  const expected = signatureHeaders(secret, { id: headers['webhook-id'] ?? '', timestamp, body });
  return ['x-service-signature', 'webhook-signature'].every((name) =>
    isEqual(headers[name] ?? '', expected[name] ?? ''),
  );
}

/** Parses a request body as JSON. If the body is not valid JSON, returns the unchanged text. */
export function parseBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/**
 * Formats a webhook request for a terminal: a summary line and one line per change. With the option `body`, also prints
 * the body.
 */
export function formatReceived({ at, verified, headers, body }: ReceivedWebhook, options: { body: boolean }): string {
  const delivery = DeliveryBody.safeParse(body).data ?? {};
  const attempt = headers['x-service-attempt'] ?? '?';
  const head = [
    styleText('dim', at.slice(11, 19)),
    styleText('bold', printable(headers['x-service-event'] ?? 'no event')),
    printable(formatSubject(delivery)),
    formatVerdict(verified),
    styleText(
      'dim',
      printable(`${headers['webhook-id'] ?? 'no webhook-id'}${attempt === '1' ? '' : `, attempt ${attempt}`}`),
    ),
  ].filter((part) => part !== '');
  const changes = Object.entries(delivery.changes ?? {}).map(
    ([name, { from, to }]) => `          ${printable(name)}: ${short(from)} → ${short(to)}`,
  );
  const whole = typeof body === 'string' ? printable(body) : JSON.stringify(body, undefined, 2);
  return `${[head.join('  '), ...changes, ...(options.body ? [whole] : [])].join('\n')}\n`;
}

function formatSubject({ ticket, asset, task }: z.infer<typeof DeliveryBody>): string {
  if (ticket !== undefined) return `${ticket.ticketNumber} ${ticket.title}`;
  if (asset !== undefined) return `${asset.assetTag} ${asset.name}`;
  return task === undefined ? '' : `task ${task.id} ${task.title}`;
}

function formatVerdict(verified: boolean | null): string {
  if (verified === null) return styleText('yellow', 'not verified: no --secret');
  return verified ? styleText('green', 'signatures valid') : styleText('red', 'SIGNATURE INVALID');
}

function short(value: unknown): string {
  const text = printable(JSON.stringify(value) ?? 'nothing');
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

function isEqual(actual: string, expected: string): boolean {
  const [a, b] = [Buffer.from(actual), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
