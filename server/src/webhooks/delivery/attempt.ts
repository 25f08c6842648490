import { pathPrefix } from '@itsm-api/contract';
import type { Dispatcher } from 'undici';
import type { SecretCipher } from '../secrets/secret-cipher.ts';
import type { ClaimedDelivery } from './claim.ts';
import { type Outcome, send } from './send.ts';
import { signatureHeaders } from './sign.ts';
import type { TargetPolicy } from './target.ts';

interface AttemptOptions {
  agent: Dispatcher;
  targets: TargetPolicy;
  secretCipher: SecretCipher;
  now(): Date;
  /** The base URL of the server (`PUBLIC_URL`). */
  publicUrl?: string | undefined;
}

/** Signs and sends one delivery attempt. Never rejects, because the outcome contains any error. */
export function attemptDelivery(options: AttemptOptions, delivery: ClaimedDelivery): Promise<Outcome> {
  const { id, attempt, body, eventId, eventType, url, tenantId, subscriptionId, claimedAt } = delivery;
  return send(options, claimedAt, () => {
    const decrypted = (secret: Uint8Array) => options.secretCipher.decrypt(secret, { tenantId, subscriptionId });
    const { secret, previousSecret } = delivery;
    const previous = previousSecret === null ? [] : [decrypted(previousSecret)];
    const secrets = { secret: decrypted(secret), previous };
    const fields = { id, attempt, body, eventId, eventType };
    return { url, body, headers: requestHeaders(fields, secrets, options.now(), options.publicUrl) };
  });
}

/** The delivery fields that determine the request headers. */
type HeaderFields = Pick<ClaimedDelivery, 'attempt' | 'body' | 'eventId' | 'eventType'> & { id: bigint | number };

/**
 * Returns the request headers of an attempt.
 * @param previous earlier secrets that also sign during a secret rotation
 */
export function requestHeaders(
  { id, attempt, body, eventId, eventType }: HeaderFields,
  { secret, previous }: { secret: string; previous: readonly string[] },
  timestamp: Date,
  publicUrl = '',
): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'itsm-webhooks/1.0',
    'x-service-event': eventType,
    'x-service-delivery': String(id),
    'x-service-attempt': String(attempt),
    ...cloudEventHeaders({ body, eventId, eventType }, `${publicUrl}${pathPrefix}`),
    ...signatureHeaders(secret, { id: eventId, timestamp, body }, previous),
  };
}

/**
 * Returns the attributes of the event as headers, so that CloudEvents libraries accept the delivery (CloudEvents 1.0,
 * HTTP binding, binary mode).
 */
function cloudEventHeaders(
  { body, eventId, eventType }: Pick<HeaderFields, 'body' | 'eventId' | 'eventType'>,
  source: string,
): Record<string, string> {
  // The timestamp follows the id and the type, so the server needn't parse the whole body.
  const [, time] = /"timestamp":"([^"]+)"/.exec(body.slice(0, 200)) ?? [];
  return {
    ...{ 'ce-specversion': '1.0', 'ce-id': eventId, 'ce-type': eventType, 'ce-source': source },
    ...(time !== undefined && { 'ce-time': time }),
  };
}
