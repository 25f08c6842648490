import type { FastifyInstance } from 'fastify';
import type { Settings } from '../config/env.ts';

const path = '/.well-known/security.txt';
/** The number of days until a response expires. RFC 9116 recommends less than a year. */
const validDays = 180;

/** Serves `security.txt` (RFC 9116), which names the contacts in `SECURITY_CONTACT`. Without a contact, serves nothing. */
export function addSecurityTxt(
  app: FastifyInstance,
  { SECURITY_CONTACT, PUBLIC_URL }: Pick<Settings, 'SECURITY_CONTACT' | 'PUBLIC_URL'>,
): void {
  if (SECURITY_CONTACT.length === 0) return;
  app.get(path, async (_request, reply) => {
    const lines = [
      ...SECURITY_CONTACT.map((contact) => `Contact: ${contact}`),
      `Expires: ${new Date(Date.now() + validDays * 86_400_000).toISOString()}`,
      'Preferred-Languages: en',
      ...(PUBLIC_URL === undefined ? [] : [`Canonical: ${PUBLIC_URL}${path}`]),
    ];
    return reply.type('text/plain; charset=utf-8').send(`${lines.join('\n')}\n`);
  });
}
