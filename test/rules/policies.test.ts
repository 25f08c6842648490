import { assertTenantIsolation } from '@itsm-api/server/database/roles.ts';
import type { TenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { dispatchQueue } from '@itsm-api/server/webhooks/outbox/dispatch-jobs.ts';
import pg from 'pg';
import { afterAll, describe, expect } from 'vitest';
import { cloneDatabase } from '../support/database.ts';
import { fillWorkspace } from '../support/filled-workspace.ts';
import { api, it as itBase, workspace as mine } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/**
 * Tests which rows and columns each database role can read and write with SQL. Row-level security is the third layer of
 * tenant isolation.
 */
let client: pg.Client;
let theirs: Workspace;
/** Every table with tenant data, and the name of the column that contains the tenant id. */
let tables: { name: string; owner: string }[];

const it = itBase.extend('options', { scope: 'file' }, { ownDatabase: true });
it.beforeAll(async () => {
  client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
  theirs = await createWorkspace(api);
  for (const workspace of [mine, theirs]) await fillWorkspace(api, workspace);
  tables = await rows(`
    SELECT c.relname AS name, CASE c.relname WHEN 'tenants' THEN 'id' ELSE 'tenant_id' END AS owner
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND (c.relname = 'tenants'
      OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id'))
    ORDER BY 1`);
});

afterAll(async () => {
  await client.end();
});

async function rows<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
  return (await client.query<Row>(sql, values)).rows;
}

/** Runs `work` in a transaction as a database role, with or without a tenant. Then rolls back the transaction. */
async function as<Result>(role: string, tenantId: TenantId | undefined, work: () => Promise<Result>): Promise<Result> {
  await client.query('BEGIN');
  try {
    // Grants the role every right on every table, so that only the policies limit its access.
    await client.query('GRANT ALL ON ALL TABLES IN SCHEMA public TO itsm_request');
    await client.query(`SET LOCAL ROLE ${role}`);
    await client.query("SELECT set_config('itsm.tenant_id', $1, true)", [tenantId?.toString() ?? '']);
    return await work();
  } finally {
    await client.query('ROLLBACK');
  }
}

const countByTable = async () => {
  const counts: Record<string, number> = {};
  for (const { name } of tables) counts[name] = Number((await rows(`SELECT count(*) FROM ${name}`))[0]?.count);
  return counts;
};

describe('row-level security', () => {
  it('enables row-level security on every tenant table, with one policy per role', async () => {
    const policies = await rows(`
      SELECT c.relname AS name, c.relrowsecurity AS enabled, array_agg(p.roles::text ORDER BY p.roles::text) AS roles,
        array_agg(DISTINCT p.cmd) AS commands
      FROM pg_class c JOIN pg_policies p ON p.tablename = c.relname AND p.schemaname = 'public'
      WHERE c.relnamespace = 'public'::regnamespace GROUP BY 1, 2 ORDER BY 1`);
    expect(policies).toEqual(
      tables.map(({ name }) => {
        return { name, enabled: true, roles: ['{itsm_request}', '{itsm_system}'], commands: ['ALL'] };
      }),
    );
  });

  it('compares tenant_id in each policy with a setting that PostgreSQL evaluates once per query', async () => {
    const policies = await rows(`
      SELECT tablename AS name, policyname AS policy, qual AS using, with_check AS check
      FROM pg_policies WHERE schemaname = 'public' ORDER BY 1, 2`);
    const setting = `( SELECT (NULLIF(current_setting('itsm.tenant_id'::text, true), ''::text))::bigint AS "nullif")`;
    const expected = tables.flatMap(({ name, owner }) => [
      { name, policy: 'request', using: `(${owner} = ${setting})`, check: `(${owner} = ${setting})` },
      { name, policy: 'system', using: 'true', check: 'true' },
    ]);
    expect(policies).toEqual(expected);
  });

  it('hides all rows of every table from the request role if no tenant is set', async () => {
    const counts = await as('itsm_request', undefined, countByTable);
    expect(counts).toEqual(Object.fromEntries(tables.map(({ name }) => [name, 0])));
  });

  it('lets the request role read only rows of the current tenant', async () => {
    await as('itsm_request', mine.tenantId, async () => {
      for (const { name, owner } of tables) {
        const owners = await rows(`SELECT DISTINCT ${owner} AS owner FROM ${name}`);
        expect(owners, name).toEqual([{ owner: String(mine.tenantId) }]);
      }
    });
  });

  it('prevents the request role from updating or deleting a row of another tenant', async () => {
    await as('itsm_request', mine.tenantId, async () => {
      for (const { name, owner } of tables) {
        const where = `WHERE ${owner} = ${theirs.tenantId}`;
        expect((await client.query(`UPDATE ${name} SET ${owner} = ${mine.tenantId} ${where}`)).rowCount, name).toBe(0);
        expect((await client.query(`DELETE FROM ${name} ${where}`)).rowCount, name).toBe(0);
      }
    });
  });

  it('prevents the request role from inserting or moving rows into another tenant', async () => {
    for (const { name, owner } of tables) {
      const [given] = await rows(
        `SELECT to_jsonb(t) AS row FROM ${name} t WHERE ${owner} = ${theirs.tenantId} LIMIT 1`,
      );
      const refused = { code: '42501', message: `new row violates row-level security policy for table "${name}"` };
      const insert = `INSERT INTO ${name} SELECT * FROM jsonb_populate_record(NULL::${name}, $1)`;
      await expect(as('itsm_request', mine.tenantId, () => rows(insert, [given?.row]))).rejects.toMatchObject(refused);
      await expect(as('itsm_request', undefined, () => rows(insert, [given?.row]))).rejects.toMatchObject(refused);
      const update = `UPDATE ${name} SET ${owner} = ${theirs.tenantId}`;
      await expect(as('itsm_request', mine.tenantId, () => rows(update))).rejects.toMatchObject(refused);
    }
  });

  it('lets the system role read the rows of every tenant', async () => {
    expect(await as('itsm_system', undefined, countByTable)).toEqual(await countByTable());
  });
});

describe('the roles', () => {
  it('increments the version of every table with a column `version`', async () => {
    const versioned = `SELECT c.oid::regclass::text AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      WHERE a.attname = 'version' AND c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace`;
    const triggered = `SELECT t.tgrelid::regclass::text AS name FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
      WHERE p.proname = 'next_version'`;
    const withTrigger = new Set((await rows(triggered)).map(({ name }) => name));
    const without = (await rows(versioned)).map(({ name }) => name).filter((name) => !withTrigger.has(name));
    expect(without, 'Add a trigger that calls next_version().').toEqual([]);
  });

  it('gives the database roles no ownership, memberships or attributes', async () => {
    const roles = await rows(`
      SELECT rolname, rolsuper, rolbypassrls, rolcanlogin, rolcreatedb, rolcreaterole, rolinherit, rolreplication,
        EXISTS (SELECT FROM pg_class WHERE relowner = r.oid) OR EXISTS (SELECT FROM pg_proc WHERE proowner = r.oid)
          OR EXISTS (SELECT FROM pg_namespace WHERE nspowner = r.oid) AS owns,
        EXISTS (SELECT FROM pg_auth_members WHERE member = r.oid) AS member,
        has_schema_privilege(r.oid, 'public', 'CREATE') OR has_schema_privilege(r.oid, 'pgboss', 'CREATE') AS creates
      FROM pg_roles r WHERE rolname IN ('itsm_request', 'itsm_system') ORDER BY 1`);
    const nothing = Object.fromEntries(Object.keys(roles[0] ?? {}).map((name) => [name, false]));
    expect(roles).toEqual([
      { ...nothing, rolname: 'itsm_request' },
      { ...nothing, rolname: 'itsm_system' },
    ]);
  });

  it('grants the request role exactly the rights that endpoints need', async () => {
    expect(await listRights('itsm_request')).toEqual({
      'public.activities': 'INSERT, SELECT',
      'public.api_keys': 'INSERT',
      'public.approvals': 'DELETE, INSERT, SELECT, UPDATE',
      'public.articles': 'INSERT, SELECT, UPDATE',
      'public.asset_field_values': 'SELECT',
      'public.assets': 'INSERT, SELECT, UPDATE',
      'public.attachment_usage': 'INSERT, SELECT, UPDATE',
      'public.attachments': 'DELETE, INSERT, SELECT',
      'public.audit_entries': 'INSERT, SELECT',
      'public.change_epochs': 'SELECT',
      'public.changes': 'SELECT',
      'public.comments': 'INSERT, SELECT',
      'public.custom_field_definitions': 'INSERT, SELECT, UPDATE',
      'public.csv_uploads': 'DELETE, INSERT, SELECT, UPDATE',
      'public.deleted_attachments': 'INSERT',
      'public.deliveries': 'INSERT, SELECT, UPDATE',
      'public.events': 'INSERT, SELECT',
      'public.idempotency_keys': 'INSERT, SELECT, UPDATE',
      'public.invitations': 'INSERT',
      'public.key_policies': 'INSERT, SELECT, UPDATE',
      'public.open_hours': 'DELETE, INSERT, SELECT, UPDATE',
      'public.projects': 'INSERT, SELECT, UPDATE',
      'public.proposals': 'INSERT, SELECT, UPDATE',
      'public.request_forms': 'INSERT, SELECT, UPDATE',
      'public.request_log': 'SELECT',
      'public.request_log_minutes': 'SELECT',
      'public.tagged_assets': 'SELECT',
      'public.tagged_tickets': 'SELECT',
      'public.tasks': 'INSERT, SELECT, UPDATE',
      'public.team_members': 'DELETE, INSERT, SELECT',
      'public.teams': 'INSERT, SELECT, UPDATE',
      'public.ticket_categories': 'INSERT, SELECT, UPDATE',
      'public.texts': 'SELECT',
      'public.ticket_assets': 'SELECT',
      'public.ticket_counts': 'SELECT',
      'public.ticket_field_values': 'SELECT',
      'public.ticket_links': 'DELETE, INSERT, SELECT',
      'public.ticket_sequences': 'INSERT, SELECT, UPDATE',
      'public.ticket_watchers': 'SELECT',
      'public.tickets': 'INSERT, SELECT, UPDATE',
      'public.usage_hours': 'SELECT',
      'public.usage_minutes': 'SELECT',
      'public.users': 'INSERT, SELECT, UPDATE',
      'public.webhook_replays': 'INSERT, SELECT',
      'public.webhook_subscriptions': 'INSERT, SELECT, UPDATE',
      'pgboss.job_common': 'INSERT',
      'pgboss.queue': 'SELECT',
    });
    // Requests can read neither the hashes of API keys and invitations nor the responses from private networks.
    for (const [table, secret] of Object.entries({
      api_keys: 'hash',
      invitations: 'hash',
      delivery_attempts: 'answer',
    })) {
      const all = await listColumns('itsm_system', table);
      expect(all).toContain(secret);
      expect(await listColumns('itsm_request', table)).toEqual(all.filter((name) => name !== secret));
    }
    const changed = ['allowed_networks', 'expires_at', 'name', 'revoked_at', 'scopes', 'updated_at'];
    expect(await listColumns('itsm_request', 'api_keys', 'UPDATE')).toEqual(changed);
    // In the sessions table, requests can use only the columns that they need to end a user's sessions.
    expect(await listColumns('itsm_request', 'sessions')).toEqual(['ended_at', 'id', 'tenant_id', 'user_id']);
    expect(await listColumns('itsm_request', 'sessions', 'UPDATE')).toEqual(['ended_at']);
  });

  it('lets the system role read and write every table, but only read the migration history', async () => {
    const rights = await listRights('itsm_system');
    const { 'public._prisma_migrations': history, ...others } = rights;
    expect(history).toBe('SELECT');
    expect(new Set(Object.values(others))).toEqual(new Set(['DELETE, INSERT, SELECT, UPDATE']));
    const named = await rows(`
      SELECT relnamespace::regnamespace || '.' || relname AS name FROM pg_class
      WHERE relnamespace IN ('public'::regnamespace, 'pgboss'::regnamespace) AND relkind IN ('r', 'p')`);
    expect(Object.keys(rights).sort()).toEqual(named.map(({ name }) => name).sort());
  });

  it('allows the request role to add webhook jobs, but not to read or delete them', async () => {
    const db = { executeSql: (sql: string, values?: unknown[]) => client.query(sql, values) };
    const queued = await as('itsm_request', mine.tenantId, async () => {
      await api.boss.insert(dispatchQueue.name, [{ singletonKey: 'of this test', data: {} }], { db });
      await client.query('RESET ROLE');
      return rows("SELECT FROM pgboss.job WHERE singleton_key = 'of this test'");
    });
    expect(queued).toHaveLength(1);
    for (const sql of ['SELECT data FROM pgboss.job_common', 'DELETE FROM pgboss.job_common']) {
      await expect(as('itsm_request', mine.tenantId, () => rows(sql))).rejects.toThrow('permission denied');
    }
  });
});

describe('the functions for migrations', () => {
  it('protects a new table as all tables, and adds it to the change feeds', async () => {
    const describeTable = async (name: string) => ({
      policies: await rows('SELECT policyname, roles, cmd, qual, with_check FROM pg_policies WHERE tablename = $1', [
        name,
      ]),
      isProtected: await rows('SELECT relrowsecurity FROM pg_class WHERE oid = $1::regclass', [name]),
      rights: await Promise.all(
        ['itsm_request', 'itsm_system'].map(async (role) => (await listRights(role))[`public.${name}`]),
      ),
      ids: await rows(
        `SELECT has_sequence_privilege('itsm_request', sequence, 'USAGE') AS request,
           has_sequence_privilege('itsm_system', sequence, 'USAGE') AS system
         FROM pg_get_serial_sequence($1, 'id') AS sequence`,
        [name],
      ),
      triggers: await rows(
        `SELECT replace(tgname, $1, '') AS name, tgtype FROM pg_trigger
         WHERE tgrelid = $1::regclass AND tgfoid = 'note_changed_row'::regproc`,
        [name],
      ),
      feeds: await rows('SELECT count(*) FROM change_feeds WHERE resource = $1', [name]),
    });
    await client.query('BEGIN');
    try {
      await client.query('CREATE TABLE things (tenant_id bigint, id bigserial)');
      await client.query("SELECT protect_table('things', 'SELECT, INSERT, UPDATE'), add_change_feed('things')");
      expect(await describeTable('things')).toEqual(await describeTable('teams'));
      await client.query('CREATE TABLE thing_members (tenant_id bigint, thing_id bigint)');
      await client.query("SELECT protect_table('thing_members', 'SELECT')");
      expect((await listRights('itsm_request'))['public.thing_members']).toBe('SELECT');
    } finally {
      await client.query('ROLLBACK');
    }
  });

  it.each(["protect_table('teams', 'DELETE')", "add_change_feed('api_keys')"])(
    'prevents the database roles from calling %s',
    async (call) => {
      for (const role of ['itsm_request', 'itsm_system']) {
        await expect(as(role, undefined, () => rows(`SELECT ${call}`))).rejects.toThrow(
          'permission denied for function',
        );
      }
    },
  );
});

describe('security definer functions', () => {
  it('defines SECURITY DEFINER functions with a constant search_path and without PUBLIC access', async () => {
    const functions = await rows<{ name: string; everybody: boolean; path: string | null }>(`
      SELECT oid::regprocedure::text AS name, has_function_privilege('public', oid, 'EXECUTE') AS everybody,
        (SELECT setting FROM unnest(proconfig) AS setting WHERE setting LIKE 'search_path=%') AS path
      FROM pg_proc WHERE prosecdef AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`);
    expect(functions.map(({ name }) => name)).toContain('search_texts(text,text,boolean,integer)');
    for (const { name, everybody, path } of functions) {
      expect(everybody, `${name} is executable by PUBLIC`).toBe(false);
      // With this search_path, a temporary table can't replace a table that the function uses.
      expect(path, name).toMatch(/^search_path=(""|(.*, ?)?"?pg_temp"?)$/);
    }
  });
});

describe('a database without tenant isolation', () => {
  it.each([
    ['row-level security is off', 'ALTER TABLE assets DISABLE ROW LEVEL SECURITY', 'assets'],
    ['a policy allows all rows', 'CREATE POLICY hole ON tasks USING (true)', 'tasks'],
    ['a table has no policy', 'CREATE TABLE later (tenant_id bigint)', 'later'],
    [
      'the role owns a table',
      'GRANT CREATE ON SCHEMA public TO itsm_request; ALTER TABLE users OWNER TO itsm_request',
      'users',
    ],
  ])('rejects a database without tenant isolation: %s', async (_, sql, table) => {
    const { url, drop } = await cloneDatabase();
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    try {
      await other.query(`
        INSERT INTO tenants (id, name, name_key, updated_at) VALUES (1, 'A', 'a', now());
        INSERT INTO projects (tenant_id, id, key, name, updated_at) VALUES (1, 1, 'A', 'A', now());
        INSERT INTO tasks (tenant_id, project_id, title, updated_at) VALUES (1, 1, 'A', now());`);
      await expect(assertTenantIsolation(other)).resolves.toBeUndefined();
      await other.query(sql);
      await expect(assertTenantIsolation(other)).rejects.toThrow(
        `Tenants are not isolated: without a tenant, the role itsm_request can see rows of ${table}. `,
      );
      // The tenant isolation check doesn't change the role of the database connection.
      expect((await other.query('SELECT current_user = session_user AS same')).rows).toEqual([{ same: true }]);
    } finally {
      await other.end();
      await drop();
    }
  });
});

/** Returns the columns of a table. Omits columns for which the role doesn't have the given right. */
async function listColumns(role: string, table: string, right = 'SELECT'): Promise<string[]> {
  const columns = await rows(
    `SELECT column_name::text AS name FROM information_schema.column_privileges
     WHERE grantee = $1 AND table_name = $2 AND privilege_type = $3 ORDER BY 1`,
    [role, table, right],
  );
  return columns.map(({ name }) => name);
}

/** Returns the rights that a role has on each table. */
async function listRights(role: string): Promise<Record<string, string>> {
  const granted = await rows(
    `SELECT table_schema || '.' || table_name AS name, string_agg(privilege_type, ', ' ORDER BY privilege_type) AS rights
     FROM information_schema.table_privileges WHERE grantee = $1 GROUP BY 1`,
    [role],
  );
  return Object.fromEntries(granted.map(({ name, rights }) => [name, rights]));
}
