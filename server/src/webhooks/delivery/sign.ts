import { createHmac } from 'node:crypto';

/** What is signed: the body, byte for byte, of one attempt. */
export interface Signable {
  /** `evt_…`, the same on every attempt. */
  id: string;
  timestamp: Date;
  body: string;
}

/**
 * The signature headers of one attempt (docs/decisions/webhook-deliveries.md).
 * @param previous secrets that sign, too, where there is room for more than one signature
 */
export function signatureHeaders(
  secret: string,
  { id, timestamp, body }: Signable,
  previous: readonly string[] = [],
): Record<string, string> {
  const seconds = String(Math.floor(timestamp.getTime() / 1000));
  const keys = [secret, ...previous].flatMap(signingKeys);
  const standard = keys.map((key) => `v1,${digest(key, `${id}.${seconds}.${body}`, 'base64')}`);
  return {
    'x-service-signature': digest(secret, body, 'hex'),
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.join(' '),
  };
}

/** The keys that a Standard Webhooks library may use: the secret as it is and, for `whsec_…`, what it encodes. */
function signingKeys(secret: string): (string | Buffer)[] {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  return encoded === undefined ? [secret] : [secret, Buffer.from(encoded, 'base64')];
}

function digest(key: string | Buffer, content: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(content).digest(encoding);
}
