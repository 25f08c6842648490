import type { IncomingHttpHeaders } from 'node:http';
import { deliverySchedule } from '@itsm-api/contract';
import { signatureHeaders } from '@itsm-api/server/webhooks/delivery/sign.ts';
import type { Secret } from '../../support/subscribed-workspaces.ts';

/** A received request and its time of arrival in milliseconds since 1970. */
interface Signed {
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

/**
 * Returns true if a request is signed with a secret that was not replaced before the attempt began. If this secret
 * replaced an older one, the request must also be signed with the older secret.
 */
export function isSigned({ headers, body, at }: Signed, secrets: Secret[]): boolean {
  const oldest = Math.max(
    0,
    secrets.findLastIndex(({ since }) => since < at - deliverySchedule.attemptTimeout),
  );
  const timestamp = new Date(Number(headers['webhook-timestamp']) * 1000);
  return secrets.slice(oldest).some(({ secret }, place) => {
    const before = secrets[oldest + place - 1];
    const content = { id: String(headers['webhook-id']), timestamp, body };
    const expected = signatureHeaders(secret, content, before && [before.secret]);
    return Object.entries(expected).every(([name, value]) => headers[name] === value);
  });
}
