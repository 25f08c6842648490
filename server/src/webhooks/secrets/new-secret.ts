import { randomBytes } from 'node:crypto';

/** A secret as Standard Webhooks writes one. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
