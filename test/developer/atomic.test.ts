import { createInvitation } from '@itsm-api/server/auth/accounts/invitations.ts';
import { tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import { deactivateTenant } from '@itsm-api/server/resources/tenants/queries.ts';
import pg from 'pg';
import { afterAll, expect } from 'vitest';
import { newAuthenticator } from '../support/authenticator.ts';
import { api, it as itBase, workspace as mine } from '../support/fixture.ts';
import { openBrowser, type Visitor } from '../support/visitor.ts';

/* Tests that each action in the developer area writes all of its changes in one transaction. */
let client: pg.Client;
let email: string;
/** A visitor who is signed in with a password. */
let visitor: Visitor;

const password = 'seven wandering walruses';
const account = '/developer/account';
const signInPage = '/developer/sign-in';

const it = itBase.extend('options', { scope: 'file' }, { ownDatabase: true });
it.beforeAll(async () => {
  client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
  ({ email } = await api.prisma.user.findFirstOrThrow({ where: { tenantId: mine.tenantId } }));
  visitor = openBrowser(api);
  await visitor.submit(await invite(), 'password', { password });
});
afterAll(async () => {
  await client.end();
});

/** Creates an invitation. Returns the path of the invitation link. */
async function invite(userId: number | bigint = mine.userId): Promise<string> {
  const db = tenantClient(api.databases.system, mine.tenantId);
  return `/developer/join?token=${await createInvitation({ db }, userId)}`;
}

/**
 * Returns all rows of the tables that the developer area writes to. Omits the times of last use, which every request
 * can change.
 */
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

it('invalidates an invitation link and saves the new credential in one transaction', async () => {
  const { id } = await mine.createUser({ role: 'ADMIN' });
  const link = await invite(id);
  const browser = openBrowser(api);
  await client.query(
    `CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'rejected'; END $$;
     CREATE TRIGGER reject BEFORE INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION reject()`,
  );
  const before = await written();
  expect((await browser.submit(link, 'password', { password: 'nine patient lighthouses' })).status).toBe(500);
  expect(await written()).toEqual(before);
  await client.query('DROP FUNCTION reject CASCADE');
  expect((await browser.submit(link, 'password', { password })).status).toBe(303);
});

it('deactivates a workspace and ends its sessions in one transaction', async () => {
  const createTrigger = `CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'rejected'; END $$;
    CREATE TRIGGER reject BEFORE UPDATE OF ended_at ON sessions FOR EACH ROW EXECUTE FUNCTION reject()`;
  await client.query(createTrigger);
  const deactivating = deactivateTenant(api, String(mine.tenantId));
  await expect(deactivating).rejects.toThrow('rejected');
  await client.query('DROP FUNCTION reject CASCADE');
  expect((await visitor.get(account)).status).toBe(200);
});

it('saves an account change and its audit entry in one transaction', async () => {
  const changes = [
    ['password', { current: password, password: 'nine patient lighthouses', others: 'end' }],
    ['passkey', { response: newAuthenticator().create((await visitor.get(account)).text) }],
    ['leave', {}],
  ] as const;
  const createTrigger = `CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'rejected'; END $$;
    CREATE TRIGGER reject BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION reject()`;
  await client.query(createTrigger);
  const before = await written();
  for (const [form, fields] of changes) expect((await visitor.submit(account, form, fields)).status, form).toBe(500);
  expect(await written()).toEqual(before);
  await client.query('DROP FUNCTION reject CASCADE');
  const elsewhere = await openBrowser(api).submit(signInPage, 'password', { email, password });
  expect(elsewhere.status).toBe(303);
});
