import { pathPrefix } from '@itsm-api/contract';
import { activate } from '@itsm-api/server/resources/tenants/move-state.ts';
import { readTenantTables } from '@itsm-api/server/resources/tenants/move-tables.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine, secretKey } from '../cli/itsm.ts';
import { type Api, errorOf, startApi } from '../support/api.ts';
import { keepingWritersOut, movedBack, movedTo } from '../support/moving.ts';
import { callOf, keyedEndpoints } from '../support/samples.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

/*
 * What a workspace's requests are answered while it is moved to another cell, and when it has moved.
 */
let api: Api;
let client: pg.Client;
let workspace: Workspace;
let other: Workspace;

beforeAll(async () => {
  api = await startApi({ ownDatabase: true, secretKeys: [secretKey] });
  [workspace, other] = [await createWorkspace(api), await createWorkspace(api)];
  client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await api.close();
});

/** Moves nothing, and keeps writers out as a mover does. */
function whileMoving<Result>(work: () => Promise<Result>): Promise<Result> {
  return keepingWritersOut(client, workspace, work);
}

/** Has the database say where the workspace is. */
async function whileIn<Result>(state: Parameters<typeof movedTo>[2], work: () => Promise<Result>): Promise<Result> {
  await movedTo(client, workspace, state);
  try {
    return await work();
  } finally {
    await movedBack(client, workspace);
  }
}

const moving = {
  code: 'RATE_LIMIT_EXCEEDED',
  retryAfterSeconds: 5,
  message: 'The workspace is being moved and can only be read meanwhile. Try again in 5 seconds.',
};

describe.each(keyedEndpoints)('$title of a workspace that is moved', (endpoint) => {
  const { method } = endpoint.route;

  it(method === 'GET' ? 'is served' : 'is refused, takes nothing from the limits, and is served again', async () => {
    const sample = await endpoint.sample(workspace);
    const key = await workspace.createKey();
    const call = () => api.call({ ...callOf(endpoint, sample), key });
    const answer = await whileMoving(call);
    if (method === 'GET') return expect(answer.status, answer.text).toBe(endpoint.success);
    expect(answer.status, answer.text).toBe(429);
    expect(errorOf(answer)).toMatchObject(moving);
    expect(answer.headers).toMatchObject({ 'retry-after': '5' });
    const next = await call();
    expect(next.status, next.text).toBe(endpoint.success);
    const limit = Number(next.headers['x-ratelimit-limit']);
    expect(Number(next.headers['x-ratelimit-remaining'])).toBe(limit - 1);
  });
});

it('takes along every table that has rows of tenants, after those that they refer to', async () => {
  await client.query(`CREATE TABLE later (tenant_id bigint, id bigint, ticket_id bigint, PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id))`);
  try {
    const { copied, made } = await readTenantTables(client);
    const names = copied.map(({ name }) => name);
    const { rows } = await client.query(`SELECT table_name::text AS name FROM information_schema.columns
      WHERE table_schema = 'public' AND column_name = 'tenant_id' AND table_name <> 'tenant_moves'`);
    expect([...names, ...made.map(({ name }) => name)].toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
    expect(names.indexOf('later')).toBeGreaterThan(names.indexOf('tickets'));
    expect(copied.find(({ name }) => name === 'tickets')).toMatchObject({ parent: 'parent_id' });
  } finally {
    await client.query('DROP TABLE later');
  }
});

it('holds nobody else up', async () => {
  const answer = await whileMoving(() => other.call('POST', '/tickets', ticket));
  expect(answer.status, answer.text).toBe(201);
});

it('waits for a write that is under way, and refuses the next at once', async () => {
  const writer = new pg.Client({ connectionString: api.databaseUrl });
  await writer.connect();
  await writer.query('BEGIN; SET LOCAL ROLE itsm_request');
  await writer.query(`SELECT set_config('itsm.tenant_id', '${workspace.tenantId}', true)`);
  await writer.query(`UPDATE users SET version = version WHERE id = ${workspace.userId}`);
  let taken = false;
  const taking = whileMoving(async () => {
    taken = true;
  });
  await expect.poll(async () => (await workspace.call('POST', '/tickets', ticket)).status).toBe(429);
  expect(taken).toBe(false);
  await writer.query('COMMIT');
  await writer.end();
  await taking;
  expect((await workspace.call('POST', '/tickets', ticket)).status).toBe(201);
});

it('keeps a workspace that leaves from being written, with nobody there who moves it', async () => {
  await whileIn('LEAVING', async () => {
    expect(errorOf(await workspace.call('POST', '/tickets', ticket))).toMatchObject(moving);
    expect((await workspace.call('GET', '/tickets')).status).toBe(200);
  });
});

it('counts no requests of a workspace that leaves: they would stand against what comes back', async () => {
  const countOf = async ({ tenantId }: Workspace) => {
    await api.usage.flush();
    const { rows } = await client.query(
      'SELECT sum(requests)::int AS sum FROM usage_hours WHERE tenant_id = $1 AND key_id = 0',
      [tenantId],
    );
    return Number(rows[0].sum);
  };
  const before = [await countOf(workspace), await countOf(other)];
  await whileIn('LEAVING', async () => {
    for (const each of [workspace, other]) expect((await each.call('GET', '/tickets')).status).toBe(200);
    expect([await countOf(workspace), await countOf(other)]).toEqual([before[0], Number(before[1]) + 1]);
  });
});

it.each([
  ['has moved', 'MOVED', 'The workspace has moved, and this is where it was.'],
  ['is on its way here', 'ARRIVING', 'The workspace is on its way here.'],
  ['has not arrived', 'ABORTED', 'The workspace is elsewhere.'],
] as const)('answers the keys of a workspace that %s, and no others', async (_, state, says) => {
  const key = await workspace.createKey();
  await whileIn(state, async () => {
    const call = () => api.call({ method: 'GET', path: `${pathPrefix}/tickets`, key });
    await expect.poll(async () => (await call()).status).toBe(429);
    expect(errorOf(await call())).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      retryAfterSeconds: 5,
      message: `${says} Try again in 5 seconds.`,
    });
    expect((await other.call('GET', '/tickets')).status).toBe(200);
  });
});

it('serves a workspace as soon as it has arrived, whoever has asked for it before', async () => {
  const get = () => workspace.call('GET', '/tickets');
  await movedTo(client, workspace, 'ARRIVING');
  await expect.poll(async () => (await get()).status).toBe(429);
  const { rows } = await client.query('SELECT token FROM tenant_moves WHERE tenant_id = $1', [workspace.tenantId]);
  expect(await activate(client, workspace.tenantId, rows[0].token)).toBe(true);
  expect((await get()).status).toBe(200);
});

it('lets nobody write or activate what is only a copy', async () => {
  const itsm = commandLine(api.databaseUrl);
  const { email } = await workspace.createUser();
  const activating = `tenants activate ${workspace.tenantId}`;
  for (const state of ['ARRIVING', 'ABORTED'] as const) {
    await whileIn(state, async () => {
      const written = await itsm(`users update ${email} --tenant ${workspace.tenantId} --phone 1`);
      expect(written.stderr).toContain('nothing can be written in it here');
      const { code, stderr } = await itsm(activating);
      expect(stderr).toContain('is not here: what is here was copied by a move');
      expect(stderr).toContain('Run `itsm tenants move` in the cell that it comes from');
      expect(code).toBe(1);
    });
  }
  await whileIn('MOVED', async () => {
    expect((await itsm(activating)).stderr).toContain('has moved to another cell. Activate it there.');
  });
  expect((await workspace.call('GET', '/tickets')).status).toBe(200);
}, 120_000);

it('refuses what the command line would write', async () => {
  const itsm = commandLine(api.databaseUrl);
  const { email } = await workspace.createUser();
  await whileMoving(async () => {
    for (const command of [
      `users create --tenant ${workspace.tenantId} --email new@example.com --role AGENT --name New`,
      `keys create --tenant ${workspace.tenantId} --user ${email} --name new --scopes all`,
      `tenants deactivate ${workspace.tenantId}`,
    ]) {
      const { code, stderr } = await itsm(command);
      expect(stderr).toContain('The tenant is being moved to another cell, or has moved');
      expect(code).toBe(1);
    }
  });
}, 120_000);
