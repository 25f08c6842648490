import { pathPrefix } from '@itsm-api/contract';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { newKey } from '@itsm-api/server/auth/api-keys/key-format.ts';
import { listRequests } from '@itsm-api/server/resources/requests/queries.ts';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';
import { areaOrigin, openBrowser } from '../support/visitor.ts';

let restrictedKey: string;

const env = { TRUST_PROXY: 'loopback,10.0.0.0/8', RATE_LIMIT_FAILURES: '12', REQUEST_LOG_SUCCESSES: '1000' };
const it = itBase.extend('options', { scope: 'file' }, { env });
it.beforeAll(async () => {
  const { email } = await workspace.createUser({ kind: 'SERVICE' });
  const fields = { user: email, name: 'office', scopes: ['tickets:read' as const], allowedNetworks: ['192.0.2.0/24'] };
  ({ key: restrictedKey } = await createKey(workspace.context, fields));
});

/** Sends a request over a connection from an address. Returns the addresses that the server stores and reports. */
async function addressesOf(remoteAddress: string, headers: Record<string, string>): Promise<Record<string, unknown>> {
  const send = (method: 'GET' | 'POST', path: string, key: string, payload?: object) =>
    api.app.inject({
      ...{ method, url: pathPrefix + path, remoteAddress, ...(payload && { payload }) },
      headers: { ...headers, authorization: `Bearer ${key}` },
    });
  const webhook = { url: 'https://example.com/hook', events: ['ticket.created'] };
  expect((await send('POST', '/webhooks', workspace.key, webhook)).statusCode).toBe(201);
  const denied = await send('GET', '/tickets', restrictedKey);
  await api.requestLog.flush();
  const { data } = await listRequests(workspace.context, { key: Number(workspace.context.keyId) }, { take: 1 });
  const entry = await api.prisma.auditEntry.findFirst({
    where: { tenantId: workspace.tenantId, action: 'webhook.created' },
    orderBy: { id: 'desc' },
  });
  return {
    requestLog: data[0]?.address,
    auditLog: entry?.address,
    error: /isn't allowed from the address (\S+)\. /.exec(denied.json().error.message)?.[1],
  };
}

describe('the address of a client', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9:50123', '203.0.113.9'],
    ['[2001:db8::1]:50123', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    // nginx sends no brackets for `$remote_addr:$remote_port`.
    ['2001:db8::1:50123', '2001:db8::1'],
    ['2001:DB8:0:0::0:1', '2001:db8::1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['[0:0:0:0:0:FFFF:CB00:7109]:443', '203.0.113.9'],
    ['fe80::1%eth0', 'fe80::1'],
    ['203.0.113.9:50123, 10.0.0.2:443, [::ffff:10.0.0.3]:80', '203.0.113.9'],
    ['198.51.100.1:1, 203.0.113.9:50123, 10.0.0.2:443', '203.0.113.9'],
    ['10.0.0.9:50123, , 10.0.0.2', '10.0.0.9'],
    ['198.51.100.1, unknown', 'unknown'],
    ['0313.0.113.9', 'unknown'],
    ['0xcb.0.113.9', 'unknown'],
    ['203.113.9', 'unknown'],
    ['3405803785', 'unknown'],
    ['203.0.113.9:port', 'unknown'],
  ])('X-Forwarded-For: %s is stored and reported as %s', async (forwarded, address) => {
    const addresses = await addressesOf('127.0.0.1', { 'x-forwarded-for': forwarded });
    expect(addresses).toEqual({ requestLog: address, auditLog: address, error: address });
  });

  it('is an IPv4 address if an IPv6 socket receives an IPv4 connection', async () => {
    const address = '203.0.113.9';
    expect(await addressesOf(`::ffff:${address}`, { 'x-forwarded-for': '198.51.100.1' })).toEqual({
      ...{ requestLog: address, auditLog: address, error: address },
    });
    expect(await addressesOf('::ffff:127.0.0.1', { 'x-forwarded-for': address })).toMatchObject({ error: address });
  });
});

describe('limits per address', () => {
  it('count failed authentications from all ports and spellings of an address together', async () => {
    const spellings = (port: number) => [`203.0.113.20:${port}`, `[::ffff:203.0.113.20]:${port}`, '::FFFF:CB00:7114'];
    const statuses: number[] = [];
    for (const from of [1, 2, 3, 4, 5].flatMap((port) => spellings(50_000 + port))) {
      const headers = { 'x-forwarded-for': from };
      const response = await api.call({ method: 'GET', path: `${pathPrefix}/users`, key: newKey(), headers });
      statuses.push(errorOf(response) && response.status);
    }
    expect(statuses).toEqual([...Array(12).fill(401), 429, 429, 429]);
  });

  it('count failed sign-ins from all ports of an address together', async () => {
    const browser = openBrowser(api);
    const body = new URLSearchParams({
      ...{ _csrf: await browser.tokenOf('/developer/sign-in'), email: 'ada@acme.example', password: 'a wrong guess' },
    }).toString();
    const statuses: number[] = [];
    for (let port = 50_001; port <= 50_011; port++) {
      const response = await browser.post('/developer/sign-in?form=password', body, {
        ...{ origin: areaOrigin, 'content-type': 'application/x-www-form-urlencoded' },
        'x-forwarded-for': `203.0.113.21:${port}`,
      });
      statuses.push(response.status);
    }
    expect(statuses).toEqual([...Array(10).fill(400), 429]);
  });
});
