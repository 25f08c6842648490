import { createInvitation } from '@itsm-api/server/auth/accounts/invitations.ts';
import { tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import { deactivateTenant } from '@itsm-api/server/resources/tenants/queries.ts';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { newAuthenticator } from '../support/authenticator.ts';
import { openBrowser, type Visitor } from '../support/visitor.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/*
 * What the developer area commits in one transaction: all of it, or nothing.
 */
let api: Api;
let client: pg.Client;
let mine: Workspace;
let email: string;
/** Has signed in by password. */
let visitor: Visitor;

const password = 'seven wandering walruses';
const account = '/developer/account';
const signInPage = '/developer/sign-in';

beforeAll(async () => {
  api = await startApi({ ownDatabase: true });
  client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
  mine = await createWorkspace(api);
  ({ email } = await api.prisma.user.findFirstOrThrow({ where: { tenantId: mine.tenantId } }));
  visitor = openBrowser(api);
  await visitor.submit(await invite(), 'password', { password });
});
afterAll(async () => {
  await client.end();
  await api.close();
});

/** Returns the path of a new invitation. */
async function invite(userId: number | bigint = mine.userId): Promise<string> {
  const db = tenantClient(api.databases.system, mine.tenantId);
  return `/developer/join?token=${await createInvitation({ db }, userId)}`;
}

/** Returns all rows that the area writes, without the times that are updated in the background. */
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
