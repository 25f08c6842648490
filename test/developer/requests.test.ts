import { findRequests, listRequests } from '@itsm-api/server/resources/requests/queries.ts';
import { describe, expect } from 'vitest';
import { query } from '../support/database.ts';
import { api, itWithApi } from '../support/fixture.ts';
import { signIn, type Visitor } from '../support/visitor.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const now = new Date('2026-11-22T12:30:30Z');
let mine: Workspace;
let theirs: Workspace;
let admin: Visitor;
let agent: Visitor;
let agentsKey: number;
let keyId: number;

const it = itWithApi.extend('options', { scope: 'file' }, { now: () => now });
it.beforeAll(async () => {
  [mine, theirs] = [await createWorkspace(api), await createWorkspace(api)];
  keyId = Number(mine.context.keyId);
  const { id } = await mine.createUser({ role: 'AGENT' });
  const key = await mine.createKey();
  const [row] = await query<{ id: number }>(
    api.databaseUrl,
    'UPDATE api_keys SET user_id = $2 WHERE tenant_id = $1 AND id <> $3 RETURNING id::int',
    [mine.tenantId, id, keyId],
  );
  agentsKey = row?.id ?? 0;
  const send = (path: string, requestId: string, by = mine.key) =>
    api.call({ method: 'GET', path: `/api/public/v1${path}`, key: by, headers: { 'x-request-id': requestId } });
  await send('/users', 'admin-ok');
  await send('/tickets/2147483647', 'admin-404');
  await send('/tickets?perPage=500', 'agent-400', key);
  await send('/users?q=<b>', 'agent-ok', key);
  await send('/users', 'theirs-ok', theirs.key);
  await send('/assets/2147483647', 'admin-404', theirs.key);
  await api.requestLog.flush();
  await query(
    api.databaseUrl,
    `INSERT INTO request_log (tenant_id, at, key_id, milliseconds, status, method, error_code, request_id, path, address)
     SELECT $1, timestamptz '2026-11-22T09:00:00Z' - n * interval '1 minute', $2, 7, 500, 'GET', 'INTERNAL_ERROR', 'old-' || n, '/old', ''
     FROM generate_series(1, 120) AS n`,
    [mine.tenantId, keyId],
  );
  admin = await signIn(api, mine);
  agent = await signIn(api, { tenantId: mine.tenantId, userId: id });
});

/** Returns the request ids on a page, in their order. */
async function idsOn(visitor: Visitor, address: string): Promise<string[]> {
  const { status, text } = await visitor.get(`/developer/requests${address}`);
  expect(status).toBe(200);
  return [...text.matchAll(/href="\/developer\/requests\?requestId=([\w-]+)"/g)].map(([, id = '']) => id);
}

describe('/developer/requests', () => {
  it('lists the requests of the workspace to administrators, newest first', async () => {
    const { text } = await admin.get('/developer/requests');
    const ids = await idsOn(admin, '');
    expect(ids.slice(0, 5)).toEqual(['agent-ok', 'agent-400', 'admin-404', 'admin-ok', 'old-1']);
    expect(ids).toHaveLength(50);
    expect(text).toContain('GET /api/public/v1/users?q=…');
    expect(text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')).toMatch(/Successful 2 Failed 2 Rejected by a limit 0/);
  });

  it('lists older requests on the next pages', async () => {
    const seen = new Set<string>();
    for (let address: string | undefined = ''; address !== undefined; ) {
      for (const id of await idsOn(admin, address)) {
        expect(seen).not.toContain(id);
        seen.add(id);
      }
      const { text } = await admin.get(`/developer/requests${address}`);
      address = /href="\/developer\/requests([^"]*)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen.size).toBe(124);
  });

  it('filters by API key, error and time', async () => {
    expect(await idsOn(admin, `?key=${agentsKey}`)).toEqual(['agent-ok', 'agent-400']);
    expect((await idsOn(admin, '?error=any')).slice(0, 3)).toEqual(['agent-400', 'admin-404', 'old-1']);
    expect(await idsOn(admin, '?error=NOT_FOUND&requestId=&key=&since=')).toEqual(['admin-404']);
    expect(await idsOn(admin, `?error=any&key=${agentsKey}`)).toEqual(['agent-400']);
    expect(await idsOn(admin, '?since=2026-11-22T08:58&until=2026-11-22T12:00')).toEqual(['old-1', 'old-2']);
    expect(await idsOn(admin, '?error=any&since=2026-11-22T08:59')).toEqual(['agent-400', 'admin-404', 'old-1']);
    expect((await admin.get('/developer/requests?error=x')).status).toBe(400);
  });

  it('finds a request by its id, and explains why a request can be missing', async () => {
    expect(await idsOn(admin, '?requestId=admin-404')).toEqual(['admin-404']);
    expect((await admin.get('/developer/requests?requestId=admin-404')).text).toContain('/docs/errors#NOT_FOUND');
    expect((await admin.get('/developer/requests?requestId=unknown')).text).toContain('no request with this id');
    expect((await admin.get('/developer/requests?requestId=%00')).status).toBe(400);
  });

  it('shows agents only the requests of their own API keys', async () => {
    expect(await idsOn(agent, '')).toEqual(['agent-ok', 'agent-400']);
    expect(await idsOn(agent, '?error=any')).toEqual(['agent-400']);
    expect(await idsOn(agent, `?key=${keyId}`)).toEqual([]);
    expect(await idsOn(agent, '?requestId=admin-404')).toEqual([]);
    expect(await idsOn(agent, '?requestId=agent-400')).toEqual(['agent-400']);
    expect((await agent.get('/developer/requests')).text).not.toContain('Rejected by a limit');
  });

  it('shows no requests of another workspace, not even by request id or API key', async () => {
    const stranger = await signIn(api, theirs);
    expect(await idsOn(stranger, '')).toEqual(['admin-404', 'theirs-ok']);
    expect((await stranger.get('/developer/requests?requestId=admin-404')).text).toContain('/assets/2147483647');
    for (const filter of ['requestId=agent-400', `key=${keyId}`, `key=${agentsKey}&error=any`]) {
      expect(await idsOn(stranger, `?${filter}`)).toEqual([]);
    }
  });
});

describe('the tables of the request log', () => {
  it('returns no rows of another tenant', async () => {
    const { data } = await listRequests(theirs.context, { key: keyId }, { take: 10 });
    expect(data).toEqual([]);
    expect(await findRequests(theirs.context, 'agent-400', { keyIds: [agentsKey] })).toEqual([]);
  });
});
