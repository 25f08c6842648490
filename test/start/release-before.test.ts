import { pathPrefix } from '@itsm-api/contract';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/totals.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { steadyPort } from '../faults/postgres.ts';
import { type ServerProcess, spawnServer } from '../faults/server.ts';
import { type Answer, type Api, answerOf, startApi } from '../support/api.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { eventually, type Receiver, startReceiver } from '../support/receiver.ts';
import { openReleaseBefore, type ReleaseBefore } from '../support/release-before.ts';
import { callOf, endpoints } from '../support/samples.ts';
import { createWorkspace, ticket, type Workspace, webhook } from '../support/workspace.ts';

/*
 * The rule of rolling upgrades (docs/decisions/upgrades.md): the release before runs on a database that this one has
 * migrated, alone and beside it.
 */
interface Running extends ServerProcess {
  /** With the workspace's key; the path is relative to the prefix. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

const secretKey = Buffer.alloc(32, 9).toString('base64');
let release: ReleaseBefore;
let database: TestDatabase;
/** This release, in this process and without a worker: it makes what the tests begin with. */
let api: Api;
let workspace: Workspace;
let receiver: Receiver;
let before: Running;

beforeAll(async () => {
  release = await openReleaseBefore();
  database = await cloneDatabase();
  const env = { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' };
  api = await startApi({ databaseUrl: database.url, secretKeys: [secretKey], env });
  before = await start(release.main);
}, 300_000);

beforeEach(async () => {
  workspace = await createWorkspace(api);
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

afterAll(async () => {
  before?.child.kill('SIGKILL');
  await before?.exited;
  await api?.close();
  await database?.drop();
  await release?.remove();
}, 60_000);

/** Starts a server, api and worker, on the database; this release's unless another's is given. */
async function start(main?: string): Promise<Running> {
  const port = await steadyPort();
  const env = {
    DATABASE_URL: database.url,
    WEBHOOK_SECRET_KEY: secretKey,
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    PORT: String(port),
    RATE_LIMIT_GLOBAL: '1000000',
    RATE_LIMIT_GROUP: '1000000',
  };
  const server = spawnServer(env, [], main);
  await server.ready;
  return {
    ...server,
    async call(method, path, body) {
      const response = await fetch(`http://127.0.0.1:${port}${pathPrefix}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${workspace.key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return answerOf(response);
    },
  };
}

describe('the release before, on the schema of this one', () => {
  it('answers requests to all of its endpoints', { timeout: 60_000 }, async () => {
    // No list is empty.
    await workspace.createWebhook({ url: receiver.url });
    await workspace.createTicket();
    await workspace.createAsset();
    await workspace.createTask();
    const sampled = new Map(endpoints.map((each) => [each.title.replace(/:(\w+)/g, '{$1}'), each]));
    expect([...sampled.keys()]).toEqual(expect.arrayContaining(release.endpoints));
    for (const name of release.endpoints) {
      const endpoint = sampled.get(name) as (typeof endpoints)[number];
      const { method, path, body } = callOf(endpoint, await endpoint.sample(workspace));
      const relative = path.slice(pathPrefix.length);
      const answer = await before.call(method, relative, body);
      expect(answer, name).toMatchObject({ status: endpoint.success, body: { success: true } });
      if (method !== 'GET') continue;
      // Who is asked by this release sees the same, and maybe more.
      const now = await workspace.call(method, relative);
      expect(now.body, name).toMatchObject(answer.body);
    }
  });

  it('writes, delivers and counts, alone and beside this one, and leaves when it is told to', {
    timeout: 60_000,
  }, async () => {
    const told = (count: number) => eventually(() => expect(receiver.received).toHaveLength(count), 20_000);
    await before.call('POST', '/webhooks', { ...webhook, url: receiver.url });
    const made = await before.call('POST', '/tickets', { ...ticket, title: 'Made before' });
    await told(1);

    const now = await start();
    const patched = await now.call('PATCH', `/tickets/${made.body.data.id}`, {
      status: 'IN_PROGRESS',
      priority: 'CRITICAL',
    });
    expect(patched.status).toBe(200);
    const { commentCount: _, ...known } = patched.body.data;
    expect(await before.call('GET', `/tickets?status=IN_PROGRESS&priority=CRITICAL`)).toMatchObject({
      body: { data: [known], meta: { totalCount: 1 } },
    });
    const later = await now.call('POST', '/tickets', { ...ticket, title: 'Made later' });
    expect(await before.call('PATCH', `/tickets/${later.body.data.id}`, { title: 'Changed before' })).toMatchObject({
      status: 200,
    });
    // Whoever writes a row gives it another version.
    expect((await now.call('GET', `/tickets/${later.body.data.id}`)).headers.etag).not.toBe(later.headers.etag);
    await told(4);

    before.child.kill('SIGTERM');
    await before.exited;
    expect(before.child.exitCode, before.output()).toBe(0);
    expect(await now.call('GET', `/tickets/${later.body.data.id}`)).toMatchObject({
      body: { data: { title: 'Changed before' } },
    });
    expect(await findWrongTotals(api.databases.options)).toEqual([]);
    now.child.kill('SIGTERM');
    await now.exited;
    expect(receiver.received).toHaveLength(4);
  });
});
