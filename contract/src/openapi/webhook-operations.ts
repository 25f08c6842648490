import type { EventType } from '../event-types.ts';
import { deliveryBody, events } from '../events.ts';
import { secretOverlapHours } from '../resources/webhooks.ts';
import { scheduleForReceivers } from './schedule-text.ts';
import { addSchema, metaOf, type Schemas, toSchema } from './schemas.ts';
import type { Operation, Parameter } from './types.ts';

/**
 * A sample delivery with a valid signature, for tests of webhook receivers. No subscription uses the secret of this
 * sample.
 */
const vector = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'evt_5d41402abc4b2a76b9719d911017c592',
  timestamp: '1795168800',
  body: '{"id":"evt_5d41402abc4b2a76b9719d911017c592","type":"ticket.created"}',
  signature: '0cbfd47e92731520a6d1bed398a930ebe3c40f24d205be256ccc4bdfa3bfd6b3',
  standard: 'v1,lfE0Xw2XpYn5cGjhfWo5CiLxJNb35aa99bPb0jZGbz8= v1,9RWj6Osiw0ZqBYVn3srNwo08NlB5KV1CwoZKLpTIQiE=',
};

/** The description of webhook deliveries in the OpenAPI document. */
export const deliveriesDescription = `
The server sends each event as a \`POST\` with a JSON body to the URL of the subscription, at least once and in no
guaranteed order. To deduplicate events, use \`webhook-id\`, which is the same on every attempt.

${scheduleForReceivers.success}. ${scheduleForReceivers.retries}
${scheduleForReceivers.breaker}
${scheduleForReceivers.pause}
${scheduleForReceivers.trials}

**Verify the signature of every delivery.** Verify either \`X-Service-Signature\` or \`webhook-signature\`. Use the raw body
before you parse it, and compare the signatures in constant time:

\`\`\`js
import { createHmac, timingSafeEqual } from 'node:crypto';

export function isGenuine(rawBody, headers, secret) {
  const expected = createHmac('sha256', secret).update(rawBody).digest();
  const given = Buffer.from(headers['x-service-signature'] ?? '', 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
\`\`\`

\`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\` follow Standard Webhooks. You can use the Standard Webhooks
libraries, which also protect against replay attacks. To test a receiver, use these values:

| | |
| --- | --- |
| secret | \`${vector.secret}\` |
| raw body | \`${vector.body}\` |
| \`X-Service-Signature\` | \`${vector.signature}\` |
| \`webhook-id\` | \`${vector.id}\` |
| \`webhook-timestamp\` | \`${vector.timestamp}\` |
| \`webhook-signature\` | \`${vector.standard}\` |
`.trim();

/** The request headers of a webhook delivery, by component name. */
export const deliveryHeaders: Record<string, Parameter> = Object.fromEntries(
  [
    header(
      'X-Service-Signature',
      'The HMAC-SHA256 of the raw body with the signing secret, in lower-case hex.',
      vector.signature,
    ),
    header('X-Service-Event', 'The type of the event.', 'ticket.created'),
    header('X-Service-Delivery', 'The id of the delivery.', '9001'),
    header('X-Service-Attempt', 'The number of the attempt, from 1.', '1'),
    header('ce-specversion', 'The version of CloudEvents.', '1.0'),
    header('ce-id', 'The id of the event, as in `webhook-id`.', vector.id),
    header('ce-type', 'The type of the event.', 'ticket.created'),
    header(
      'ce-source',
      'The URL of the API, or its path if the server has no public URL.',
      'https://itsm.example.com/api/public/v1',
    ),
    header('ce-time', 'When the event happened.', '2026-11-20T10:00:00.000Z'),
    header('webhook-id', 'The id of the event. Every attempt has the same id.', vector.id),
    header('webhook-timestamp', 'When the attempt was sent, in Unix seconds.', vector.timestamp),
    header(
      'webhook-signature',
      'Signatures, separated by spaces. ' +
        'Each signature is `v1,` followed by the base64-encoded HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw body>`. ' +
        'The key of the first signature is the text of the signing secret. ' +
        'If the secret is `whsec_` followed by base64, there is a second signature, whose key is the decoded base64. ' +
        `For ${secretOverlapHours} hours after a change of the secret, ` +
        'the header also has the signatures with the previous secret.',
      vector.standard,
    ),
  ].map((parameter) => [`Event-${parameter.name}`, parameter]),
);

function header(name: string, description: string, example: string): Parameter {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example };
}

/** Returns the OpenAPI webhooks. Each of the four event types has one operation. */
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
    description: changes
      ? 'The body contains the complete resource and the changed fields.'
      : 'The body contains the complete resource.',
    tags: ['events'],
    security: [],
    parameters: Object.keys(deliveryHeaders).map((each) => ({ $ref: `#/components/parameters/${each}` })),
    requestBody: {
      description: 'The event. The signatures cover its exact bytes.',
      required: true,
      content: {
        'application/json': {
          schema: addSchema(schemas, `${name}Event`, { ...body, description: when }),
          examples: { example: { value } },
        },
      },
    },
    responses: {
      '2XX': { description: 'Success. The server sends no further attempts.' },
      '410': { description: 'The endpoint is gone. The server pauses the subscription.' },
      default: { description: 'Failure. The server retries later, after the delay in `Retry-After` if present.' },
    },
  };
}
