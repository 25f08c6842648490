import { randomBytes } from 'node:crypto';

/** Generates a signing secret in the Standard Webhooks format. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
