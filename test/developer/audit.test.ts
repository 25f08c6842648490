import { describe, expect, vi } from 'vitest';
import { newAuthenticator } from '../support/authenticator.ts';
import { admin, api, itAsAdmin as it, workspace as mine } from '../support/fixture.ts';
import { openBrowser, type Visitor } from '../support/visitor.ts';

const path = '/developer/audit';

/** Returns the cells of each row on the page, without HTML. */
async function rowsOn(query = ''): Promise<string[][]> {
  const { status, text } = await admin.get(path + query);
  expect(status, text).toBe(200);
  const rows = text.split('<tbody')[1]?.match(/<tr.*?<\/tr>/gs) ?? [];
  return rows.map((row) =>
    (row.match(/<td.*?<\/td>/gs) ?? []).map((cell) =>
      cell
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    ),
  );
}

describe('/developer/audit', () => {
  it('shows the actor, the target and the changes, and filters by time, actor and target', async () => {
    const { id } = await mine.createWebhook();
    const { data } = (await mine.call('PATCH', `/webhooks/${id}`, { events: ['asset.created'] })).body;
    const [[, actor, action, target, changes] = []] = await rowsOn();
    expect([action, target]).toEqual(['webhook.changed', `webhook ${id}`]);
    expect(actor).toBe(`Sam Field , key ${mine.context.keyId}`);
    expect(changes).toBe('events: ticket.created, ticket.updated to asset.created');

    const minute = (time: number) => new Date(time).toISOString().slice(0, 16);
    const at = Date.parse(data.updatedAt);
    const { email } = await api.prisma.user.findFirstOrThrow({ where: { id: BigInt(mine.userId) } });
    const actionsOf = async (query: string) => (await rowsOn(query)).map(([, , action]) => action);
    const both = ['webhook.changed', 'webhook.created'];
    expect(await actionsOf(`?targetType=webhook&targetId=${id}&since=&until=&actor=`)).toEqual(both);
    expect(await actionsOf(`?targetType=webhook&actor=${encodeURIComponent(email)}`)).toEqual(both);
    expect(await actionsOf(`?actor=${mine.userId}&action=webhook.created`)).toEqual(['webhook.created']);
    expect(await actionsOf(`?targetType=webhook&since=${minute(at - 60_000)}`)).toEqual(both);
    expect(await actionsOf(`?targetType=webhook&until=${minute(at - 60_000)}`)).toEqual([]);
    expect(await actionsOf('?actor=nobody@example.com')).toEqual([]);
  });

  it('shows entries of earlier releases with the display name', async () => {
    const entry = { tenantId: mine.tenantId, address: '', userAgent: 'command line', action: 'key.revoked' };
    await api.prisma.auditEntry.create({ data: { ...entry, subject: 'nightly export' } });
    expect((await rowsOn())[0]?.slice(1)).toEqual([
      'Command line',
      'key.revoked',
      'nightly export',
      '',
      'command line',
    ]);
  });
});

describe('failed sign-ins', () => {
  it('records the failed sign-ins of an account within 15 minutes in one entry with a count', async () => {
    const account = '/developer/account';
    const authenticator = newAuthenticator();
    await admin.submit(account, 'password', { password: 'seven wandering walruses', others: 'end' });
    await admin.submit(account, 'passkey', { response: authenticator.create((await admin.get(account)).text) });
    expect((await rowsOn())[0]?.slice(2, 4)).toEqual(['passkey.added', `user ${mine.userId}`]);
    const { email } = await api.prisma.user.findFirstOrThrow({ where: { id: BigInt(mine.userId) } });
    const signInPage = '/developer/sign-in';
    const fail = async (browser: Visitor, address = email) => {
      const { status } = await browser.submit(signInPage, 'password', { email: address, password: 'not the one' });
      expect(status).toBe(400);
    };
    const failures = () =>
      api.prisma.auditEntry.findMany({
        where: { tenantId: mine.tenantId, action: 'session.failed' },
        orderBy: { id: 'asc' },
      });
    const browser = openBrowser(api);
    await Promise.all([fail(browser), fail(openBrowser(api)), fail(openBrowser(api), 'unknown@example.com')]);
    const page = (await browser.get(signInPage)).text;
    // The authenticator signs for this page, but the browser has already used the challenge.
    const response = authenticator.get(page);
    expect((await browser.submit(signInPage, 'passkey', { response })).status).toBe(303);
    expect((await openBrowser(api).submit(signInPage, 'passkey', { response })).status).toBe(400);
    await vi.waitFor(async () => expect(await failures()).toMatchObject([{ count: 3 }]), 60_000);
    expect(await failures()).toMatchObject([
      { userId: null, targetType: 'user', targetId: BigInt(mine.userId), address: '127.0.0.1' },
    ]);
    expect((await rowsOn('?action=session.failed'))[0]?.slice(1, 4)).toEqual([
      '',
      'session.failed × 3',
      `user ${mine.userId}`,
    ]);

    await api.prisma.auditEntry.updateMany({
      where: { tenantId: mine.tenantId, action: 'session.failed' },
      data: { at: new Date(Date.now() - 15 * 60_000) },
    });
    await fail(openBrowser(api));
    await vi.waitFor(async () => expect(await failures()).toMatchObject([{ count: 3 }, { count: 1 }]), 60_000);

    const { id } = await api.prisma.passkey.findFirstOrThrow({ where: { userId: BigInt(mine.userId) } });
    await admin.submit(account, 'removePasskey', { id: Number(id) });
    expect((await rowsOn())[0]?.slice(2, 4)).toEqual(['passkey.removed', `user ${mine.userId}`]);
  });
});
