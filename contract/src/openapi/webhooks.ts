import { deliveryBody, type EventType, events } from '../events.ts';
import { scheduleForReceivers } from './schedule.ts';
import { addSchema, metaOf, type Schemas, toSchema } from './schemas.ts';
import type { Operation, Parameter } from './types.ts';

/** A delivery with its signatures, so that a receiver can be tried out; the secret is no one's. */
const vector = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'evt_5d41402abc4b2a76b9719d911017c592',
  timestamp: '1795168800',
  body: '{"id":"evt_5d41402abc4b2a76b9719d911017c592","type":"ticket.created"}',
  signature: '0cbfd47e92731520a6d1bed398a930ebe3c40f24d205be256ccc4bdfa3bfd6b3',
  standard: 'v1,lfE0Xw2XpYn5cGjhfWo5CiLxJNb35aa99bPb0jZGbz8= v1,9RWj6Osiw0ZqBYVn3srNwo08NlB5KV1CwoZKLpTIQiE=',
};

/** What is said of deliveries as a whole. */
export const deliveriesDescription = `
What subscriptions deliver: a \`POST\` of JSON to the URL registered, at least once per event and in no certain order.
\`webhook-id\` is the same on every attempt: deduplicate by it.

${scheduleForReceivers.success}. ${scheduleForReceivers.retries}
${scheduleForReceivers.pause}
${scheduleForReceivers.trials}

**Verify every delivery** over the raw body, before it is parsed, and compare in constant time:

\`\`\`js
import { createHmac, timingSafeEqual } from 'node:crypto';

export function isGenuine(rawBody, headers, secret) {
  const expected = createHmac('sha256', secret).update(rawBody).digest();
  const given = Buffer.from(headers['x-service-signature'] ?? '', 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
\`\`\`

\`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\` follow Standard Webhooks, so its libraries work too; they
also refuse what is replayed later. To try a receiver out:

| | |
| --- | --- |
| secret | \`${vector.secret}\` |
| raw body | \`${vector.body}\` |
| \`X-Service-Signature\` | \`${vector.signature}\` |
| \`webhook-id\` | \`${vector.id}\` |
| \`webhook-timestamp\` | \`${vector.timestamp}\` |
| \`webhook-signature\` | \`${vector.standard}\` |
`.trim();

/** The headers of a delivery, by the names of their components. */
export const deliveryHeaders: Record<string, Parameter> = Object.fromEntries(
  [
    header(
      'X-Service-Signature',
      'Lower-case hex HMAC-SHA256 of the raw body, keyed with the secret.',
      vector.signature,
    ),
    header('X-Service-Event', "The event's type.", 'ticket.created'),
    header('X-Service-Delivery', 'Names the delivery: one event on its way to one subscription.', '9001'),
    header('X-Service-Attempt', 'Which attempt this is, from 1.', '1'),
    header('webhook-id', "The event's id, the same on every attempt.", vector.id),
    header('webhook-timestamp', 'When the attempt was made, in Unix seconds.', vector.timestamp),
    header(
      'webhook-signature',
      '`v1,` and base64 HMAC-SHA256 of `id.timestamp.body`, keyed with the secret; where the secret is `whsec_` and ' +
        'base64, after a space the same with the decoded key.',
      vector.standard,
    ),
  ].map((parameter) => [`Event-${parameter.name}`, parameter]),
);

function header(name: string, description: string, example: string): Parameter {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example };
}

/** The four events as they are delivered. */
export function describeWebhooks(schemas: Schemas): Record<string, { post: Operation }> {
  const types = Object.keys(events) as EventType[];
  return Object.fromEntries(types.map((type) => [type, { post: deliveryOf(type, schemas) }]));
}

function deliveryOf(type: EventType, schemas: Schemas): Operation {
  const { when, key, payload, changes } = events[type];
  const name = type.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const body = toSchema(deliveryBody(type), 'output', schemas);
  const resource = metaOf(payload).example as { priority?: string };
  const value = {
    id: vector.id,
    type,
    timestamp: '2026-11-20T10:00:00.000Z',
    actor: { userId: 1, keyId: 1 },
    [key]: resource,
    ...(changes && { changes: { priority: { from: 'LOW', to: resource.priority } } }),
  };
  return {
    operationId: `events_${type.replace('.', '_')}`,
    summary: when.replace(/\.$/, ''),
    description: changes ? 'Carries the whole resource and what changed.' : 'Carries the whole resource.',
    tags: ['events'],
    security: [],
    parameters: Object.keys(deliveryHeaders).map((each) => ({ $ref: `#/components/parameters/${each}` })),
    requestBody: {
      description: 'The event. Its signatures are over these very bytes.',
      required: true,
      content: {
        'application/json': {
          schema: addSchema(schemas, `${name}Event`, { ...body, description: when }),
          examples: { example: { value } },
        },
      },
    },
    responses: {
      '2XX': { description: 'Received; nothing more is sent of it.' },
      '410': { description: 'Nobody is there any more; the subscription pauses.' },
      default: { description: 'Not received; tried again later, not before `Retry-After`.' },
    },
  };
}
