import type { Dispatcher } from 'undici';
import type { ClaimedDelivery } from './claim.ts';
import type { SecretCipher } from './secret-cipher.ts';
import { type Outcome, send } from './send.ts';
import { signatureHeaders } from './sign.ts';
import type { TargetPolicy } from './target.ts';

interface AttemptOptions {
  agent: Dispatcher;
  targets: TargetPolicy;
  secretCipher: SecretCipher;
  now(): Date;
}

/** Signs and sends one attempt. Never throws: whatever goes wrong is the outcome. */
export function attemptDelivery(options: AttemptOptions, delivery: ClaimedDelivery): Promise<Outcome> {
  const { id, attempt, body, eventId, eventType, url, tenantId, subscriptionId, claimedAt } = delivery;
  return send(options, claimedAt, () => {
    const decrypted = (secret: Uint8Array) => options.secretCipher.decrypt(secret, { tenantId, subscriptionId });
    const { secret, previousSecret } = delivery;
    const previous = previousSecret === null ? [] : [decrypted(previousSecret)];
    return {
      url,
      body,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'itsm-webhooks/1.0',
        'x-service-event': eventType,
        'x-service-delivery': String(id),
        'x-service-attempt': String(attempt),
        ...signatureHeaders(decrypted(secret), { id: eventId, timestamp: options.now(), body }, previous),
      },
    };
  });
}
