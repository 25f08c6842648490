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
}

/** Signs and sends one delivery attempt. Never rejects, because the outcome contains any error. */
export function attemptDelivery(options: AttemptOptions, delivery: ClaimedDelivery): Promise<Outcome> {
  const { id, attempt, body, eventId, eventType, url, tenantId, subscriptionId, claimedAt } = delivery;
  return send(options, claimedAt, () => {
    const decrypted = (secret: Uint8Array) => options.secretCipher.decrypt(secret, { tenantId, subscriptionId });
    const { secret, previousSecret } = delivery;
    const previous = previousSecret === null ? [] : [decrypted(previousSecret)];
    const secrets = { secret: decrypted(secret), previous };
    return { url, body, headers: requestHeaders({ id, attempt, body, eventId, eventType }, secrets, options.now()) };
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
): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'itsm-webhooks/1.0',
    'x-service-event': eventType,
    'x-service-delivery': String(id),
    'x-service-attempt': String(attempt),
    ...signatureHeaders(secret, { id: eventId, timestamp, body }, previous),
  };
}
