import { createKey, updateKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';

let email: string;

const it = itBase.extend('options', { scope: 'file' }, { env: { TRUST_PROXY: 'loopback' } });
it.beforeAll(async () => {
  ({ email } = await workspace.createUser({ kind: 'SERVICE' }));
});

const makeKey = (allowedNetworks: string[]) =>
  createKey(workspace.context, { user: email, name: 'office', scopes: ['tickets:read'], allowedNetworks });

/** Sends a request through a proxy on this machine, which adds the address of the client. */
function call(key: string, from: string | undefined, path = '/api/public/v1/tickets') {
  return api.call({ method: 'GET', path, key, ...(from !== undefined && { headers: { 'x-forwarded-for': from } }) });
}

describe('the allowed networks of an API key', () => {
  it.each([
    [['192.0.2.0/24'], '192.0.2.200', 200],
    [['192.0.2.0/24'], '192.0.3.1', 403],
    [['192.0.2.0/24'], '::ffff:192.0.2.9', 200],
    [['192.0.2.0/24'], '192.0.2.9:50123', 200],
    [['192.0.2.0/24', '2001:db8::/32'], '2001:db8:5::1', 200],
    [['2001:db8::/32'], '2001:db9::1', 403],
    [['2001:db8::/32'], '32.1.13.184', 403],
    [['198.51.100.7/32'], undefined, 403],
    [['0.0.0.0/0'], '2001:db8::1', 403],
    [[], '203.0.113.9', 200],
    // The client's own entry in the header, before the entry of the proxy, is ignored.
    [['192.0.2.0/24'], '192.0.2.1, 203.0.113.9', 403],
  ])('%j: responds to a request from %s with %i', async (networks, from, status) => {
    const { key } = await makeKey(networks);
    const answer = await call(key, from);
    expect(answer.status, answer.text).toBe(status);
  });

  it('names the address and counts the request toward no rate limit', async () => {
    const { key } = await makeKey(['192.0.2.0/24']);
    for (const path of ['/api/public/v1/tickets', '/api/public/v1/me']) {
      const answer = await call(key, '203.0.113.9', path);
      expect(errorOf(answer)).toMatchObject({
        code: 'ADDRESS_NOT_ALLOWED',
        message: expect.stringContaining("isn't allowed from the address 203.0.113.9."),
      });
      expect([answer.status, answer.headers.ratelimit]).toEqual([403, undefined]);
    }
  });

  it('applies to the MCP server and its tools', async () => {
    const { key } = await makeKey(['192.0.2.0/24']);
    const send = (from: string) =>
      api.call({
        ...{ method: 'POST', path: '/mcp', key },
        headers: { 'x-forwarded-for': from, accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_tickets', arguments: {} } },
      });
    const [denied, allowed] = [await send('203.0.113.9'), await send('192.0.2.1')];
    expect([denied.status, denied.text.includes("isn't allowed from the address")]).toEqual([403, true]);
    expect(denied.headers.ratelimit).toBeUndefined();
    expect(allowed.status, allowed.text).toBe(200);
    expect(allowed.body.result.isError, allowed.text).not.toBe(true);
  });

  it('applies changed networks to a cached API key within a second, and only to this key', async () => {
    const [changed, other] = [await makeKey([]), await makeKey([])];
    for (const { key } of [changed, other]) expect((await call(key, '203.0.113.9')).status).toBe(200);
    await updateKey(workspace.context, changed.id, { allowedNetworks: ['192.0.2.0/24'] });
    await expect.poll(async () => (await call(changed.key, '203.0.113.9')).status).toBe(403);
    expect((await call(other.key, '203.0.113.9')).status).toBe(200);
  });
});
