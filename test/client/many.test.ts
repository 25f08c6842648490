import { type ClientOptions, ItsmClient, isItsmError, type NewTicket } from '@itsm-api/client';
import { beforeEach, describe, expect } from 'vitest';
import { api, itInNewWorkspace as it, workspace } from '../support/fixture.ts';
import { ticket } from '../support/workspace.ts';

let baseUrl: string;
let requests: { method: string; path: string; key: string | null; items: number }[];
/**
 * The test client calls this function for each request. By default, the function forwards the request to the server.
 */
let handleRequest: (count: number, send: () => Promise<Response>) => Promise<Response>;
let client: ItsmClient;

it.beforeAll(async () => {
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' });
});
beforeEach(async () => {
  requests = [];
  handleRequest = (_, send) => send();
  client = newClient();
});

function newClient(options: Partial<ClientOptions> = {}): ItsmClient {
  const recordingFetch: ClientOptions['fetch'] = (url, init) => {
    const items = init.body ? (JSON.parse(String(init.body)).tickets?.length ?? 1) : 0;
    const key = new Headers(init.headers).get('idempotency-key');
    requests.push({ method: String(init.method), path: new URL(url).pathname, key, items });
    return handleRequest(requests.length, () => fetch(url, init));
  };
  return new ItsmClient({ baseUrl, apiKey: workspace.key, fetch: recordingFetch, ...options });
}

const titled = (count: number): NewTicket[] =>
  Array.from({ length: count }, (_, index) => ({ ...ticket, title: `Item ${index}` }));
const count = async () => (await client.tickets.list({ perPage: 1 })).meta.totalCount;

describe('createMany', () => {
  it('sends createMany items in requests of 100 and returns a result for each item', async () => {
    const items = titled(230).map((item, index) => (index === 120 ? { ...item, title: '' } : item));
    const progress: number[] = [];
    const batches: unknown[] = [];
    const { results, done, failed } = await client.tickets.createMany(items, {
      onProgress: (state) => progress.push(state.done, state.failed, state.total),
      onBatch: (batch) => batches.push(batch),
    });
    expect(batches).toEqual([results.slice(0, 100), results.slice(100, 200), results.slice(200)]);
    expect(requests.map((request) => request.items)).toEqual([100, 100, 30]);
    expect(new Set(requests.map(({ key }) => key)).size).toBe(3);
    expect(results.map(({ index, item }) => [index, item])).toEqual([...items.entries()]);
    expect(done.map(({ title }) => title)).toEqual(items.map(({ title }) => title).filter(Boolean));
    expect(failed).toMatchObject([
      {
        index: 120,
        item: { title: '' },
        error: {
          name: 'ValidationError',
          status: 400,
          method: 'POST',
          path: '/tickets/bulk',
          details: [{ path: 'title' }],
        },
      },
    ]);
    expect(failed[0]?.error.docs).toBe(`${baseUrl}/docs/errors#VALIDATION_ERROR`);
    expect(progress).toEqual([100, 0, 230, 199, 1, 230, 229, 1, 230]);
    expect(await client.tickets.createMany([])).toEqual({ results: [], done: [], failed: [] });
  });

  it('resumes an interrupted createMany if the caller repeats it with the same idempotency key', async () => {
    const items = titled(250);
    handleRequest = (count, send) => (count === 2 ? send().then(() => Promise.reject(new Error('cut off'))) : send());
    const first = await client.tickets.createMany(items, { idempotencyKey: 'import-1', maxRetries: 0 });
    expect([first.done.length, first.failed.length, requests.length]).toEqual([100, 150, 2]);
    expect(first.failed[0]?.error).toMatchObject({ code: 'CONNECTION_FAILED', method: 'POST' });
    expect(await count()).toBe(200);
    handleRequest = (_, send) => send();
    const second = await newClient().tickets.createMany(items, { idempotencyKey: 'import-1' });
    expect(second.done.slice(0, 100)).toEqual(first.done);
    expect([second.done.length, await count()]).toEqual([250, 250]);
  });

  it('retries an interrupted createMany request without creating duplicates', async () => {
    handleRequest = (count, send) =>
      count % 2 === 1 ? send().then(() => Promise.reject(new Error('cut off'))) : send();
    expect((await client.tickets.createMany(titled(130))).failed).toEqual([]);
    expect(requests.filter(({ path }) => path.endsWith('/bulk'))).toHaveLength(4);
    handleRequest = (_, send) => send();
    expect(await count()).toBe(130);
  });

  it('splits createMany items into requests within the size limits', async () => {
    const large = titled(30).map((item) => ({ ...item, description: 'ü'.repeat(30_000) }));
    expect((await client.tickets.createMany(large)).done).toHaveLength(30);
    expect(requests.map((request) => request.items)).toEqual([17, 13]);
    requests = [];
    // The body is small, but contains more values than the server accepts.
    const tags = Array.from({ length: 400 }, (_, index) => index);
    const wide = titled(60).map((item) => ({ ...item, customFields: { tags } }));
    expect((await client.tickets.createMany(wide)).done).toHaveLength(60);
    expect(requests.map((request) => request.items)).toEqual([60, 30, 30]);
  });

  it('continues createMany after an item that is too large for a request', async () => {
    const items = titled(250).map((item, index) => ({
      ...item,
      ...(index === 119 && { description: 'ü'.repeat(600_000) }),
    }));
    const { done, failed } = await client.tickets.createMany(items);
    expect(done).toHaveLength(249);
    expect(failed).toMatchObject([{ index: 119, error: { code: 'PAYLOAD_TOO_LARGE' } }]);
  });

  it('returns all results so far if a signal aborts createMany', async () => {
    const abort = new AbortController();
    let concurrent = 0;
    let maxConcurrent = 0;
    handleRequest = async (_, send) => {
      maxConcurrent = Math.max(maxConcurrent, ++concurrent);
      return send().finally(() => {
        concurrent -= 1;
      });
    };
    const onProgress = ({ done }: { done: number }) => done >= 200 && abort.abort(new Error('enough'));
    const options = { concurrency: 2, signal: abort.signal, onProgress };
    const { done, failed } = await client.tickets.createMany(titled(600), options);
    expect(maxConcurrent).toBe(2);
    expect(done.length).toBeGreaterThanOrEqual(200);
    expect(done.length + failed.length).toBe(600);
    expect(failed.at(-1)?.error).toMatchObject({ name: 'AbortError', cause: new Error('enough') });
  });

  it('ignores changes that the caller makes to the items after calling createMany', async () => {
    const items = titled(150);
    const making = client.tickets.createMany(items, { concurrency: Number.POSITIVE_INFINITY });
    for (const item of items) item.title = 'changed';
    const [first] = items.splice(0);
    const { results, done, failed } = await making;
    expect(failed).toEqual([]);
    expect(results[0]?.item).toBe(first);
    expect(done.map(({ title }) => title)).toEqual(titled(150).map(({ title }) => title));
  });

  it("throws the server's error from createMany if the server rejects the first request", async () => {
    const wrong = newClient({ apiKey: 'itsm_wrong' });
    await expect(wrong.tickets.createMany(titled(300))).rejects.toMatchObject({ name: 'InvalidApiKeyError' });
    expect(requests).toHaveLength(1);
  });
});

describe('updateMany', () => {
  it('applies two updateMany changes to the same ticket in order', async () => {
    const { done } = await client.tickets.createMany(titled(3));
    const [first, second] = done.map(({ id }) => id);
    const changes = [
      { id: first ?? 0, title: 'Once' },
      { id: second ?? 0, status: 'RESOLVED' as const },
      { id: first ?? 0, title: 'Twice' },
      { id: 987_654_321, title: 'Nowhere' },
    ];
    const result = await client.tickets.updateMany(changes);
    expect(result.done.map(({ title, status }) => [title, status])).toEqual([
      ['Once', 'OPEN'],
      ['Item 1', 'RESOLVED'],
      ['Twice', 'OPEN'],
    ]);
    expect(result.failed).toMatchObject([{ index: 3, error: { name: 'NotFoundError', status: 404 } }]);
    expect(requests.slice(1)).toMatchObject([{ method: 'PATCH', key: null, items: 2 }, { items: 2 }]);
  });
});

describe('client change feed', () => {
  /**
   * Waits until the change feed contains `rows` changes. Transactions in other databases of the PostgreSQL server can
   * delay changes.
   */
  const waitForChanges = (rows: number) =>
    expect.poll(async () => (await client.tickets.changes()).data.length).toBe(rows);

  it('continues a change feed after the given cursor', async () => {
    await client.tickets.createMany(titled(5));
    await waitForChanges(5);
    const page = await client.tickets.changes({ perPage: 2 });
    expect(page.data.map(({ title }) => title)).toEqual(['Item 0', 'Item 1']);
    expect(page.meta.hasMore).toBe(true);

    const changes = client.tickets.changes({ cursor: page.meta.nextCursor, perPage: 2 });
    const titles: string[] = [];
    for await (const { title } of changes) titles.push(title);
    expect(titles).toEqual(['Item 2', 'Item 3', 'Item 4']);

    await workspace.createTicket({ title: 'Later' });
    await waitForChanges(6);
    const later = client.tickets.changes({ cursor: changes.cursor });
    for await (const { title } of later) titles.push(title);
    expect(titles.slice(3)).toEqual(['Later']);
  });

  it('returns a page of changes again if an iteration stopped in the middle of it', async () => {
    await client.tickets.createMany(titled(4));
    await waitForChanges(4);
    const changes = client.tickets.changes({ perPage: 2 });
    for await (const { title } of changes) if (title === 'Item 2') break;
    const again = client.tickets.changes({ cursor: changes.cursor });
    expect((await again).data.map(({ title }) => title)).toEqual(['Item 2', 'Item 3']);
  });

  it('provides feeds of comments and activity', async () => {
    const ticket = await workspace.createTicket();
    const comment = await workspace.createComment(ticket.id);
    const asset = await workspace.createAsset();
    const rows = async () => {
      const [comments, ofTickets, ofAssets] = await Promise.all([
        client.comments.changes(),
        client.activities.ofTickets({ since: '2026-01-01T00:00:00Z' }),
        client.activities.ofAssets(),
      ]);
      return [
        comments.data,
        ofTickets.data.map(({ ticketId, action }) => [ticketId, action]),
        ofAssets.data.map(({ assetId, action }) => [assetId, action]),
      ];
    };
    const ofTicket = ['CREATED', 'COMMENTED'].map((action) => [ticket.id, action]);
    await expect.poll(rows).toEqual([[comment], ofTicket, [[asset.id, 'CREATED']]]);
  });

  it('provides change feeds for assets, projects, tasks and users', async () => {
    const project = await workspace.createProject();
    await Promise.all([workspace.createAsset(), client.tasks.create(project.id, { title: 'Order cables' })]);
    for (const resource of ['assets', 'projects', 'tasks', 'users'] as const) {
      const rows = async () => {
        const ids: number[] = [];
        for await (const { id } of client[resource].changes({ since: '2026-01-01T00:00:00Z' })) ids.push(id);
        return ids.length;
      };
      await expect.poll(rows).toBe(1);
    }
  });

  it('continues to follow changes after an outage of the API', async () => {
    const abort = new AbortController();
    const seen: string[] = [];
    const failedAt: number[] = [];
    handleRequest = (_, send) => {
      const isDown = seen.length === 1 && failedAt.length < 3;
      if (isDown) failedAt.push(performance.now());
      return isDown ? Promise.reject(new Error('down')) : send();
    };
    const quick = newClient({ maxRetries: 0 });
    const query = { follow: true, pollMs: 20 };
    const follow = (async () => {
      for await (const { title } of quick.tickets.changes(query, { signal: abort.signal })) {
        seen.push(title);
        if (seen.length === 2) abort.abort();
      }
    })();
    await workspace.createTicket({ title: 'Before' });
    await expect.poll(() => failedAt.length).toBe(3);
    // The pauses are longer than `pollMs`, and grow.
    const [first = 0, second = 0, third = 0] = failedAt;
    expect([second - first >= 249, third - second >= 499]).toEqual([true, true]);
    await workspace.createTicket({ title: 'After' });
    const error = await follow.catch((reason: unknown) => reason);
    expect(seen).toEqual(['Before', 'After']);
    if (!isItsmError(error, 'ABORTED')) throw error;
    const { data } = await client.tickets.changes({ cursor: error.cursor });
    expect(data.every(({ title }) => title === 'After')).toBe(true);
  });

  it('throws an error if the server rejects a change feed request in follow mode', async () => {
    const wrong = client.tickets.changes({ cursor: 'nothing', follow: true });
    await expect(wrong.pages().next()).rejects.toMatchObject({ name: 'ValidationError', cursor: 'nothing' });
  });
});

describe('upsertMany', () => {
  const laptops = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ assetTag: `LT-${index}`, name: 'Laptop', type: 'LAPTOP' as const }));

  it('sends upsertMany items in requests of 100 and counts what the API did', async () => {
    const items = laptops(230);
    const first = await client.assets.upsertMany(items);
    expect(requests).toHaveLength(3);
    expect(first.counts).toEqual({ CREATED: 230, UPDATED: 0, UNCHANGED: 0 });

    const batches: number[] = [];
    const changed = items.map((item, index) => (index < 3 ? { ...item, location: 'Berlin' } : item));
    const { counts, results, failed } = await client.assets.upsertMany([...changed, { assetTag: 'LT-unnamed' }], {
      onBatch: (batch) => batches.push(batch.length),
    });
    expect(counts).toEqual({ CREATED: 0, UPDATED: 3, UNCHANGED: 227 });
    expect(results[0]).toMatchObject({ ok: true, result: 'UPDATED', data: { location: 'Berlin' } });
    expect(failed).toMatchObject([{ index: 230, error: { code: 'VALIDATION_ERROR' } }]);
    expect(batches).toEqual([100, 100, 31]);
  });

  it('reports items with a value of an earlier item as failed, and sends the others', async () => {
    const twins = [
      { assetTag: ' LT-0 ' },
      { assetTag: 'Gera\u0308t' },
      { assetTag: 'Ger\u00e4t' },
      { assetTag: 'LT-7' },
    ];
    const items = laptops(120).map((item, index) => ({ ...item, externalId: `mdm:${index}` }));
    const batches: number[] = [];
    const { counts, results, failed } = await client.assets.upsertMany(
      [...twins.slice(1, 2), ...items, ...twins].map((item) => ({ name: 'Laptop', type: 'LAPTOP', ...item })),
      { onBatch: (batch) => batches.push(batch.length) },
    );
    expect(counts).toEqual({ CREATED: 121, UPDATED: 0, UNCHANGED: 0 });
    expect([results.length, failed.length, batches.reduce((sum, size) => sum + size)]).toEqual([125, 4, 125]);
    expect(failed.map(({ index, error }) => [index, error.code, error.message])).toEqual([
      [121, 'VALIDATION_ERROR', 'assetTag LT-0 is a duplicate of the item with index 1.'],
      [122, 'VALIDATION_ERROR', 'assetTag Ger\u00e4t is a duplicate of the item with index 0.'],
      [123, 'VALIDATION_ERROR', 'assetTag Ger\u00e4t is a duplicate of the item with index 0.'],
      [124, 'VALIDATION_ERROR', 'assetTag LT-7 is a duplicate of the item with index 8.'],
    ]);
    // Items without the field are no twins. The API reports their error.
    const untagged = items.slice(0, 2).map(({ assetTag: _, ...item }) => item);
    expect((await client.assets.upsertMany(untagged)).failed).toMatchObject(
      untagged.map(() => ({ error: { message: expect.stringContaining('assetTag is required') } })),
    );
  });

  it('matches by externalId', async () => {
    const [item = {}] = laptops(1);
    await client.assets.upsertMany([{ ...item, externalId: 'mdm:1' }]);
    const { counts } = await client.assets.upsertMany([{ externalId: 'mdm:1', name: 'Renamed' }], {
      matchBy: 'externalId',
    });
    expect(counts).toEqual({ CREATED: 0, UPDATED: 1, UNCHANGED: 0 });
  });
});
