import { describe, expect, it } from 'vitest';
import { startApi } from '../support/api.ts';

const path = '/.well-known/security.txt';

async function get(env: Record<string, string>) {
  const api = await startApi({ env });
  try {
    return await api.call({ method: 'GET', path });
  } finally {
    await api.close();
  }
}

describe('security.txt', () => {
  it('names the security contacts in the format of RFC 9116', async () => {
    const SECURITY_CONTACT = 'mailto:security@example.com, https://example.com/security';
    const { status, headers, text } = await get({ SECURITY_CONTACT, PUBLIC_URL: 'https://itsm.example.com' });
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'text/plain; charset=utf-8' });
    const [, expires = ''] = /^Expires: (\S+)$/m.exec(text) ?? [];
    expect(text.split('\n')).toEqual([
      'Contact: mailto:security@example.com',
      'Contact: https://example.com/security',
      `Expires: ${expires}`,
      'Preferred-Languages: en',
      `Canonical: https://itsm.example.com${path}`,
      '',
    ]);
    const days = (Date.parse(expires) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(90);
    expect(days).toBeLessThan(365);
  });

  it('has no canonical URL if PUBLIC_URL is not set', async () => {
    const { status, text } = await get({ SECURITY_CONTACT: 'mailto:security@example.com' });
    expect(status).toBe(200);
    expect(text).not.toContain('Canonical');
  });

  it('returns 404 for security.txt if no contact is set', async () => {
    expect((await get({})).status).toBe(404);
  });
});
