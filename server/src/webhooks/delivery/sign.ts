import { createHmac } from 'node:crypto';

/** The parts of an attempt that the signature covers, including the exact bytes of the body. */
export interface Signable {
  /** The public id of the event (`evt_…`). All attempts use the same id. */
  id: string;
  timestamp: Date;
  body: string;
}

/**
 * Returns the signature headers of one attempt (docs/decisions/webhook-deliveries.md).
 * @param previous earlier secrets that also sign; their signatures are only in `webhook-signature`, because the other
 * header can contain only one signature
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

/**
 * Returns the signing keys that Standard Webhooks libraries derive from a secret. These keys are the secret itself and,
 * if it starts with `whsec_`, its decoded bytes.
 */
function signingKeys(secret: string): (string | Buffer)[] {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  return encoded === undefined ? [secret] : [secret, Buffer.from(encoded, 'base64')];
}

function digest(key: string | Buffer, content: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(content).digest(encoding);
}
