import {
  createArticle,
  maxArticles,
  reserveArticles,
  updateArticle,
} from '@itsm-api/server/resources/articles/queries.ts';
import { transaction } from '@itsm-api/server/resources/shared/context.ts';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const titlesIn = async ({ call }: Workspace, query = '') =>
  (await call('GET', `/articles${query}`)).body.data.map(({ title }: { title: string }) => title);

/** Waits until the change feed after a cursor contains rows. Other tests can have open transactions. */
async function changesAfter({ call }: Workspace, cursor?: string) {
  const query = cursor === undefined ? '' : `?cursor=${cursor}`;
  const read = async () => (await call('GET', `/articles/changes${query}`)).body;
  await expect.poll(async () => (await read()).data.length).toBeGreaterThan(0);
  return read();
}

describe('GET /articles', () => {
  it('lists the published articles without their text, newest first', async () => {
    const own = await createWorkspace(api);
    await own.createArticle({ title: 'First', category: 'Network' });
    await createArticle(own.context, { title: 'A draft', body: 'Not ready' });
    const { id } = await own.createArticle({ title: 'Old', category: 'Network' });
    await updateArticle(own.context, id, { status: 'ARCHIVED' });
    const { body, ...newest } = await own.createArticle({ title: 'Last', category: 'E-mail' });
    const list = await own.call('GET', '/articles');
    expect(list.body).toMatchObject({ data: [newest, { title: 'First' }], meta: { totalCount: 2 } });
    expect(list.body.data[0]).toEqual(newest);
    expect(await titlesIn(own, '?category=Network')).toEqual(['First']);
    expect(await titlesIn(own, '?category=Network,E-mail&perPage=1&page=2')).toEqual(['First']);
    expect(await titlesIn(own, '?category=network')).toEqual([]);
  });

  it('returns matches in the title first, then matches in the text, each newest first', async () => {
    const own = await createWorkspace(api);
    await own.createArticle({ title: 'Reset the VPN', body: 'Restart it.' });
    await own.createArticle({ title: 'Printers', body: 'Printers need the VPN. Reset them.' });
    await own.createArticle({ title: 'VPN: reset the token', body: 'Wait a minute.', category: 'Access' });
    await own.createArticle({ title: 'Unrelated', body: 'Nothing here.' });
    await createArticle(own.context, { title: 'Draft about the VPN reset', body: 'Secret' });
    const expected = ['VPN: reset the token', 'Reset the VPN', 'Printers'];
    expect(await titlesIn(own, '?q=vpn%20res')).toEqual(expected);
    expect(await titlesIn(own, '?q=vpn%20res&perPage=2&page=2')).toEqual(['Printers']);
    expect(await titlesIn(own, '?q=vpn&category=Access')).toEqual(['VPN: reset the token']);
    expect((await own.call('GET', '/articles?q=vpn')).body.meta).toEqual({ page: 1, perPage: 20, totalCount: 3 });
    expect(await titlesIn(own, '?q=nothing%20vpn')).toEqual([]);
    expect(await titlesIn(await createWorkspace(api), '?q=vpn')).toEqual([]);
  });

  it('finds the new words of a changed article, and no longer its old words', async () => {
    const own = await createWorkspace(api);
    const { id } = await own.createArticle({ title: 'Scanner', body: 'Lift the lid.' });
    await updateArticle(own.context, id, { title: 'Copier', body: 'Lift the cover.' });
    expect(await titlesIn(own, '?q=copier%20cover')).toEqual(['Copier']);
    expect(await titlesIn(own, '?q=lid')).toEqual([]);
    expect(await titlesIn(own, '?q=scanner')).toEqual([]);
  });

  it('finds an article with 46,000 different words', async () => {
    const words = Array.from({ length: 46_000 }, (_, i) => (1296 + i).toString(36)).join(' ');
    const { title } = await workspace.createArticle({ title: 'Every word', body: words });
    expect(await titlesIn(workspace, '?q=every%20word%20zzz')).toEqual([title]);
  });
});

describe('GET /articles/{id}', () => {
  it('returns a published article, and 304 for its ETag', async () => {
    const article = await workspace.createArticle({ body: '# Steps\n\n1. Restart it.' });
    const { body, headers } = await workspace.call('GET', `/articles/${article.id}`);
    expect(body.data).toMatchObject({ title: 'Reset the VPN', category: null, status: 'PUBLISHED' });
    expect(body.data.body).toBe('# Steps\n\n1. Restart it.');
    expect(headers.etag).toBe(article.etag);
    expect(headers.ratelimit).toContain('"kb";r=');
    const unchanged = { 'if-none-match': article.etag };
    expect((await workspace.call('GET', `/articles/${article.id}`, undefined, unchanged)).status).toBe(304);
    await updateArticle(workspace.context, article.id, { title: 'Reset it' });
    expect((await workspace.call('GET', `/articles/${article.id}`, undefined, unchanged)).status).toBe(200);
  });

  it.each(['DRAFT', 'ARCHIVED'] as const)('returns 404 for an article with status %s', async (status) => {
    const { id } = await workspace.createArticle();
    await updateArticle(workspace.context, id, { status });
    const answer = await workspace.call('GET', `/articles/${id}`);
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'NOT_FOUND']);
  });

  it('requires the scope kb:read', async () => {
    const { id } = await workspace.createArticle();
    const key = await workspace.createKey({ scopes: ['tickets:read'] });
    const answer = await api.call({ method: 'GET', path: `/api/public/v1/articles/${id}`, key });
    expect([answer.status, errorOf(answer).code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
  });
});

describe('GET /articles/changes', () => {
  it('returns a withdrawn article once as ARCHIVED, with its published title and without its text', async () => {
    const own = await createWorkspace(api);
    const { id } = await own.createArticle({ title: 'Published title', category: 'Network' });
    const first = await changesAfter(own);
    expect(first.data).toMatchObject([{ id, status: 'PUBLISHED', body: 'Restart it.' }]);

    await updateArticle(own.context, id, { status: 'DRAFT' });
    const withdrawn = await changesAfter(own, first.meta.nextCursor);
    const expected = { id, status: 'ARCHIVED', title: 'Published title', category: 'Network', body: null };
    expect(withdrawn.data).toMatchObject([expected]);

    await updateArticle(own.context, id, { title: 'Secret title', category: null, body: 'Secret' });
    await updateArticle(own.context, id, { status: 'ARCHIVED' });
    const other = await own.createArticle({ title: 'Another' });
    const later = await changesAfter(own, withdrawn.meta.nextCursor);
    expect(later.data.map(({ id }: { id: number }) => id)).toEqual([other.id]);
    const all = await own.call('GET', '/articles/changes');
    expect(all.body.data[0]).toMatchObject(expected);
    expect(all.text).not.toContain('Secret');

    await updateArticle(own.context, id, { status: 'PUBLISHED' });
    const again = await changesAfter(own, later.meta.nextCursor);
    expect(again.data).toMatchObject([{ id, status: 'PUBLISHED', title: 'Secret title', category: null }]);
  });

  it('never contains a draft that was not published', async () => {
    const own = await createWorkspace(api);
    const draft = await createArticle(own.context, { title: 'Draft', body: 'Secret' });
    await updateArticle(own.context, draft.id, { title: 'Changed draft' });
    await updateArticle(own.context, draft.id, { status: 'ARCHIVED' });
    const { id } = await own.createArticle();
    expect((await changesAfter(own)).data.map((row: { id: number }) => row.id)).toEqual([id]);
  });
});

describe('the limits of articles', () => {
  it('rejects more than 10,000 articles, even if two transactions create the last one concurrently', async () => {
    const own = await createWorkspace(api);
    // Inserts the rows without triggers, which would take seconds.
    await api.owner.prisma.$transaction([
      api.owner.prisma.$executeRaw`SET LOCAL session_replication_role = replica`,
      api.owner.prisma.$executeRaw`
        INSERT INTO articles (tenant_id, title, body, updated_at)
        SELECT ${own.tenantId}, 'Article', 'Text', now() FROM generate_series(2, ${maxArticles})`,
    ]);
    const create = () => createArticle(own.context, { title: 'The last one', body: 'Text' });
    const results = await Promise.allSettled([create(), create()]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(transaction(own.context, (context) => reserveArticles(context, 1))).rejects.toThrow(
      'A workspace has at most 10000 articles',
    );
  });
});
