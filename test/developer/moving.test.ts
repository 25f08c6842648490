import { tenantClient } from '@itsm-api/server/database/tenant-client.ts';
import type { AnyPage } from '@itsm-api/server/developer/page.ts';
import { pages } from '@itsm-api/server/developer/pages.ts';
import { createInvitation } from '@itsm-api/server/identity/invitations.ts';
import { deactivateTenant } from '@itsm-api/server/resources/tenants/queries.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Api, startApi } from '../support/api.ts';
import { newAuthenticator } from '../support/authenticator.ts';
import { keepingWritersOut, movedBack, movedTo } from '../support/moving.ts';
import { type Fields, openBrowser, signIn, upload, type Visitor } from '../support/visitor.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import { fileOn } from './importing.ts';
import { addressOf } from './samples.ts';

/*
 * What the developer area does while its workspace is moved to another cell, and where the proxy leads to a cell that the
 * workspace has left or hasn't reached. Nothing that was answered as done may be lost with what is left behind.
 */
let api: Api;
let client: pg.Client;
let mine: Workspace;
let email: string;
/** Has signed in by password, and is signed in. */
let visitor: Visitor;
/** Another session of the same user. */
let elsewhere: Visitor;
const authenticator = newAuthenticator();

const password = 'seven wandering walruses';
const account = '/developer/account';
const importPage = '/developer/assets/import';
const signInPage = '/developer/sign-in';
const moving = 'The workspace is being moved and can only be read meanwhile. Try again in 5 seconds.';

beforeAll(async () => {
  api = await startApi({ ownDatabase: true });
  client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
  mine = await createWorkspace(api);
  ({ email } = await api.prisma.user.findFirstOrThrow({ where: { tenantId: mine.tenantId } }));
  visitor = openBrowser(api);
  await visitor.submit(await invite(), 'password', { password });
  await visitor.submit(account, 'passkey', { response: authenticator.create((await visitor.get(account)).text) });
  elsewhere = await signIn(api, mine);
  await upload(visitor, importPage, 'name,assetTag,type\nOne,LT-1,LAPTOP\n');
});
afterAll(async () => {
  await client.end();
  await api.close();
});

/** Where the link of an invitation leads; what is chosen by it ends the sessions of its user. */
async function invite(userId: number | bigint = mine.userId, options?: { demo: boolean }): Promise<string> {
  const db = tenantClient(api.databases.system, mine.tenantId);
  return `/developer/join?token=${await createInvitation({ db }, userId, options)}`;
}

const whileMoving = <Result>(work: () => Promise<Result>) => keepingWritersOut(client, mine, work);

/** All that the area writes, but for when a session was heard of; that a key was used is written elsewhere, some time later. */
async function written(): Promise<object> {
  const tables = ['passkeys', 'passwords', 'invitations', 'csv_uploads', 'audit_entries', 'users', 'assets'];
  const { rows } = await client.query(
    `SELECT ${tables.map((name) => `(SELECT json_agg(t ORDER BY t::text) FROM ${name} t WHERE tenant_id = $1) AS ${name}`)},
       (SELECT json_agg(to_jsonb(s) - 'last_seen_at' ORDER BY id) FROM sessions s WHERE tenant_id = $1) AS sessions,
       (SELECT json_agg(to_jsonb(k) - 'last_used_at' ORDER BY id) FROM api_keys k WHERE tenant_id = $1) AS api_keys,
       (SELECT COALESCE(sum(failures), 0) FROM sign_in_failures) AS failures`,
    [mine.tenantId],
  );
  return rows[0];
}

/** The id that stands in the form of a page. */
async function idIn(path: string, form: string): Promise<number> {
  const { text } = await visitor.get(path);
  return Number(new RegExp(`form=${form}"[\\s\\S]*?name="id" value="(\\d+)"`).exec(text)?.[1]);
}

function refused({ status, text }: Answer, says: string): void {
  expect([status, text.includes(says)], text).toEqual([429, true]);
}

const closed = pages.filter(({ roles }) => roles !== 'everyone');

describe('while the workspace is moved', () => {
  it.each<AnyPage>(closed)('$path is shown', async ({ path }) => {
    const address = await addressOf(path, mine);
    const { status, text } = await whileMoving(() => visitor.get(address));
    expect(status, text).toBe(200);
  });

  it.each<[string, string, string, () => Promise<Fields>]>([
    ['signing out', account, 'leave', async () => ({})],
    ['ending a session', account, 'end', async () => ({ id: await idIn(account, 'end') })],
    ['removing a passkey', account, 'removePasskey', async () => ({ id: await idIn(account, 'removePasskey') })],
    [
      'adding a passkey',
      account,
      'passkey',
      async () => ({ response: newAuthenticator().create((await visitor.get(account)).text) }),
    ],
    [
      'changing the password',
      account,
      'password',
      async () => ({ current: password, password: 'nine patient lighthouses', others: 'end' }),
    ],
    ['making a key', '/developer/keys/new', 'create', async () => ({ name: 'new', life: 30, scopes: 'tickets:read' })],
    ['importing', importPage, 'import', async () => ({ file: fileOn((await visitor.get(importPage)).text) })],
  ])('%s is refused, and changes nothing', async (_, path, form, fields) => {
    const given = await fields();
    const before = await written();
    refused(await whileMoving(() => visitor.submit(path, form, given)), moving);
    expect(await written()).toEqual(before);
    for (const each of [visitor, elsewhere]) expect((await each.get(account)).status).toBe(200);
  });

  it('a file is not taken', async () => {
    const before = await written();
    refused(await whileMoving(() => upload(visitor, '/developer/projects/import', 'key,name\nP,One\n')), moving);
    expect(await written()).toEqual(before);
  });

  it('nobody signs in, which counts as no failure, and signs in after it', async () => {
    const browser = openBrowser(api);
    const byPassword = () => browser.submit(signInPage, 'password', { email, password });
    const byPasskey = async () =>
      browser.submit(signInPage, 'passkey', { response: authenticator.get((await browser.get(signInPage)).text) });
    for (const attempt of [byPassword, byPasskey]) {
      const before = await written();
      refused(await whileMoving(attempt), moving);
      expect(await written()).toEqual(before);
      expect((await attempt()).status).toBe(303);
      await browser.submit(account, 'leave');
    }
  });

  it('links stay good', async () => {
    const { id } = await mine.createUser({ role: 'ADMIN' });
    for (const [form, fields] of [
      ['password', async () => ({ password })],
      ['passkey', async (page: string) => ({ response: newAuthenticator().create(page) })],
      ['look', async () => ({})],
    ] as const) {
      const link = await invite(id, { demo: true });
      const browser = openBrowser(api);
      const send = async () => browser.submit(link, form, await fields((await browser.get(link)).text));
      const before = await written();
      refused(await whileMoving(send), moving);
      expect(await written()).toEqual(before);
      expect((await send()).status, form).toBe(303);
    }
  });
});

describe.each([
  ['has moved', 'MOVED', 'The workspace has moved, and this is where it was. Try again in 5 seconds.'],
  ['is on its way here', 'ARRIVING', 'The workspace is on its way here. Try again in 5 seconds.'],
] as const)('where a workspace %s', (_, state, says) => {
  it('who is signed in stays so, and is told', async () => {
    const token = await visitor.tokenOf(account);
    await movedTo(client, mine, state);
    try {
      refused(await visitor.get(account), says);
      refused(await visitor.submit(account, 'leave', {}, token), says);
    } finally {
      await movedBack(client, mine);
    }
    expect((await visitor.get(account)).status).toBe(200);
  });

  it('who signs in where they have been before, or with a passkey or a link, is told, which counts as no failure', async () => {
    const link = await invite();
    await movedTo(client, mine, state);
    try {
      const before = await written();
      refused(await visitor.submit(signInPage, 'password', { email, password }), says);
      const response = authenticator.get((await visitor.get(signInPage)).text);
      refused(await visitor.submit(signInPage, 'passkey', { response }), says);
      refused(await openBrowser(api).get(link), says);
      expect(await written()).toEqual(before);
      // Whoever has never been there learns nothing of who has an account.
      const stranger = await openBrowser(api).submit(signInPage, 'password', { email, password });
      expect([stranger.status, stranger.text.includes('No account has this')]).toEqual([400, true]);
    } finally {
      await movedBack(client, mine);
    }
  });
});

it('a link is used up with what it lets in by, or not at all', async () => {
  const { id } = await mine.createUser({ role: 'ADMIN' });
  const link = await invite(id);
  const browser = openBrowser(api);
  await client.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION refuse()`,
  );
  const before = await written();
  expect((await browser.submit(link, 'password', { password: 'nine patient lighthouses' })).status).toBe(500);
  expect(await written()).toEqual(before);
  await client.query('DROP FUNCTION refuse CASCADE');
  expect((await browser.submit(link, 'password', { password })).status).toBe(303);
});

it('a workspace is deactivated with its sessions, or not at all', async () => {
  const refusing = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE OF ended_at ON sessions FOR EACH ROW EXECUTE FUNCTION refuse()`;
  await client.query(refusing);
  const deactivating = deactivateTenant(api.databases.system.prisma, String(mine.tenantId));
  await expect(deactivating).rejects.toThrow('refused');
  await client.query('DROP FUNCTION refuse CASCADE');
  expect((await visitor.get(account)).status).toBe(200);
});

it('what an account changes of itself is done with its entry in the audit log, or not at all', async () => {
  const changes = [
    ['password', { current: password, password: 'nine patient lighthouses', others: 'end' }],
    ['passkey', { response: newAuthenticator().create((await visitor.get(account)).text) }],
    ['leave', {}],
  ] as const;
  const refusing = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse()`;
  await client.query(refusing);
  const before = await written();
  for (const [form, fields] of changes) expect((await visitor.submit(account, form, fields)).status, form).toBe(500);
  expect(await written()).toEqual(before);
  await client.query('DROP FUNCTION refuse CASCADE');
  const elsewhere = await openBrowser(api).submit(signInPage, 'password', { email, password });
  expect(elsewhere.status).toBe(303);
});
