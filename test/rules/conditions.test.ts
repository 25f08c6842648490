import { acceptsIfMatch, acceptsIfNoneMatch, hasFileResponse, isVersioned } from '@itsm-api/contract';
import { describe, expect } from 'vitest';
import { type Answer, errorOf } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { callOf, keyedEndpoints } from '../support/samples.ts';
import { ticket } from '../support/workspace.ts';

/** The format of a strong entity tag (RFC 9110 §8.8.3). */
const strong = /^"[\x21\x23-\x7e]+"$/;

/** What proxies add to the ETag of a response that they compress: a prefix and a suffix. */
const codingMarks = [
  ['W/', ''],
  ...['-gzip', '-br', '-zstd', '-deflate', ';gzip', ';br', ';zstd', ';deflate', '-gzip;br'].map((mark) => ['', mark]),
  ['W/', '-gzip'],
] as [string, string][];

const mark = (etag: string | undefined, [prefix, suffix]: [string, string]) =>
  `${prefix}${String(etag).slice(0, -1)}${suffix}"`;

describe.each(keyedEndpoints.filter(({ route }) => isVersioned(route)))('$title', (endpoint) => {
  it('returns a strong ETag in the header and in the field `etag`', async () => {
    const sample = await endpoint.sample(workspace);
    const { headers, body } = await api.call({ ...callOf(endpoint, sample), key: workspace.key });
    expect(headers.etag).toMatch(strong);
    if (!hasFileResponse(endpoint.route)) expect(body.data.etag).toBe(headers.etag);
    expect(headers['content-encoding']).toBeUndefined();
  });
});

describe.each(keyedEndpoints.filter(({ route }) => acceptsIfNoneMatch(route)))('$title', (endpoint) => {
  it.each(['GET', 'HEAD'])('returns 304 for a %s request if If-None-Match matches the ETag', async (method) => {
    const call = { ...callOf(endpoint, await endpoint.sample(workspace)), key: workspace.key, method };
    const { headers, text } = await api.call(call);
    for (const tags of [headers.etag, `"other", ${headers.etag}`, `"a,b" ,, W/${headers.etag}`, '*']) {
      const again = await api.call({ ...call, headers: { 'if-none-match': String(tags) } });
      expect(again).toMatchObject({ status: 304, text: '' });
      expect(again.headers).toMatchObject({
        etag: headers.etag,
        'cache-control': 'private, no-cache',
        // The document of a workspace has an ETag for each encoding.
        vary: expect.stringMatching(/^Authorization, X-API-Key(, Accept-Encoding)?$/),
      });
      expect(again.headers['x-ratelimit-remaining']).toBeDefined();
    }
    for (const tags of ['"other"', '', 'nonsense', String(headers.etag).slice(1)]) {
      const whole = await api.call({ ...call, headers: { 'if-none-match': tags } });
      expect([whole.status, whole.text]).toEqual([200, text]);
    }
  });
});

describe.each(keyedEndpoints.filter(({ route }) => acceptsIfMatch(route)))('$title', (endpoint) => {
  /** Creates a row. Returns its ETag, and functions that read and change it. */
  async function createRow() {
    const call = { ...callOf(endpoint, await endpoint.sample(workspace)), key: workspace.key };
    const read = () => api.call({ ...call, method: 'GET', body: undefined });
    const etag = String((await read()).headers.etag);
    const send = (ifMatch: string): Promise<Answer> => api.call({ ...call, headers: { 'if-match': ifMatch } });
    return { etag, read, send };
  }

  it('changes a resource if If-Match contains the current ETag', async () => {
    for (const tagsOf of [(etag: string) => etag, (etag: string) => `"other", ${etag}`, () => '*', () => ' * ']) {
      const { etag, read, send } = await createRow();
      const changed = await send(tagsOf(etag));
      expect(changed.status, changed.text).toBe(200);
      if (endpoint.route.method === 'DELETE') continue;
      expect((await read()).headers.etag).toBe(changed.headers.etag);
    }
  });

  it('changes a resource if a proxy that compresses has changed the ETag', async () => {
    for (const marks of codingMarks) {
      const { etag, send } = await createRow();
      const changed = await send(`"other", ${mark(etag, marks)}`);
      expect(changed.status, marks.join('')).toBe(200);
    }
  });

  it("returns 412 without a change if If-Match doesn't match the current ETag", async () => {
    const { etag, send } = await createRow();
    const longer = ['-x', '-x-gzip', '-gzip-x', '-GZIP'].map((suffix) => mark(etag, ['', suffix]));
    // After a restore of the database, a version can have another time.
    const earlier = [etag.replace(/-./, '-0'), etag.replace(/^"\d+/, '"99')];
    for (const tags of ['"other"', '"1", "2"', 'W/"other"', '"other-gzip"', ...longer, ...earlier]) {
      const refused = await send(tags);
      expect(refused.status, tags).toBe(412);
      expect(errorOf(refused).code).toBe('PRECONDITION_FAILED');
      expect(refused.headers.etag).toBeUndefined();
    }
    expect((await send(etag)).status).toBe(200);
  });

  it.each(['', 'nonsense', '"open', 'W/', '*, "a"', '"a" b'])(
    'returns 400 for the malformed If-Match %s',
    async (tags) => {
      const refused = await (await createRow()).send(tags);
      expect(refused.status).toBe(400);
      expect(errorOf(refused)).toMatchObject({
        code: 'VALIDATION_ERROR',
        message: expect.stringContaining('If-Match'),
      });
    },
  );

  it('returns 404 for any If-Match if the resource does not exist', async () => {
    const { body } = await endpoint.sample(workspace);
    const path = endpoint.route.path.replace(/:\w+/, '9007199254740991');
    for (const tags of ['*', '"1"']) {
      const headers = { 'if-match': tags };
      const answer = await api.call({ method: endpoint.route.method, path, body, key: workspace.key, headers });
      expect(answer.status).toBe(404);
    }
  });
});

describe.each(keyedEndpoints.filter(({ route }) => route.method !== 'GET' && !acceptsIfMatch(route)))(
  '$title',
  (endpoint) => {
    it('returns 400 for If-Match if the endpoint does not support conditional requests', async () => {
      const call = { ...callOf(endpoint, await endpoint.sample(workspace)), key: workspace.key };
      const answer = await api.call({ ...call, headers: { 'if-match': '*' } });
      expect(answer.status, answer.text).toBe(400);
      expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('If-Match') });
    });
  },
);

describe('the version of a webhook subscription', () => {
  it('accepts an older ETag of a webhook in If-Match if only deliveries changed the webhook', async () => {
    const { id } = await workspace.createWebhook();
    const path = `/webhooks/${id}`;
    const { headers } = await workspace.call('GET', path);
    const known = { 'if-match': String(headers.etag) };
    // The webhook columns that a worker updates after a delivery.
    const noted = [
      "last_success_at = '2026-11-20T10:00:00Z'",
      "last_failure_at = '2026-11-20T10:00:00Z', failures = 5, open_until = now()",
      "paused_at = '2026-11-20T10:00:00Z', paused_reason = 'The endpoint returned 410 Gone.'",
    ];
    const seen = [headers.etag];
    for (const columns of noted) {
      await api.owner.pool.query(`UPDATE webhook_subscriptions SET ${columns} WHERE id = ${id}`);
      const read = await workspace.call('GET', path, undefined, { 'if-none-match': seen.join(', ') });
      expect([read.status, read.headers.etag]).toEqual([200, expect.stringMatching(strong)]);
      expect(seen).not.toContain(read.headers.etag);
      seen.push(read.headers.etag);
    }
    const changed = await workspace.call('PATCH', path, { events: ['asset.created'] }, known);
    expect(changed.status, changed.text).toBe(200);
    expect((await workspace.call('PATCH', path, { paused: true }, known)).status).toBe(412);
    expect((await workspace.call('DELETE', path, undefined, { 'if-match': String(seen.at(-1)) })).status).toBe(412);
    const weak = { 'if-match': mark(changed.headers.etag, ['W/', '-gzip']) };
    expect((await workspace.call('DELETE', path, undefined, weak)).status).toBe(200);
  });

  it('changes the ETag of a webhook after every change, including a new secret and a pause', async () => {
    const { id } = await workspace.createWebhook();
    const changes: object[] = [
      { url: 'https://hooks.example.com/other' },
      { secret: 'another secret of the test' },
      { events: ['ticket.updated'] },
      { filter: { priority: ['HIGH'] } },
      { skipOwn: true },
      { paused: true },
      { paused: false },
    ];
    let etag = String((await workspace.call('GET', `/webhooks/${id}`)).headers.etag);
    for (const change of changes) {
      const headers = { 'if-match': etag };
      const changed = await workspace.call('PATCH', `/webhooks/${id}`, change, headers);
      expect(changed.status, changed.text).toBe(200);
      expect((await workspace.call('DELETE', `/webhooks/${id}`, undefined, headers)).status).toBe(412);
      etag = String(changed.headers.etag);
    }
  });
});

describe('the version of a ticket', () => {
  const getEtag = async (id: number) => (await workspace.call('GET', `/tickets/${id}`)).headers.etag;

  it('changes the ETag of a ticket only if a request changes the ticket', async () => {
    const { id } = await workspace.createTicket();
    const seen = [await getEtag(id)];
    const changes: (() => Promise<Answer | unknown>)[] = [
      () => workspace.call('PATCH', `/tickets/${id}`, { title: 'Other' }),
      () => workspace.call('PATCH', `/tickets/${id}`, { watcherUserIds: [workspace.userId] }),
      () => workspace.call('PATCH', `/tickets/${id}`, { watcherUserIds: [] }),
      () => workspace.createComment(id),
      // Simulates a server of an earlier release that doesn't support ticket versions.
      () => api.prisma.$executeRaw`UPDATE tickets SET title = 'VPN drops' WHERE id = ${id}`,
    ];
    for (const make of changes) {
      await make();
      const etag = await getEtag(id);
      expect(seen).not.toContain(etag);
      seen.push(etag);
    }
    await workspace.call('PATCH', `/tickets/${id}`, { title: 'VPN drops' });
    await workspace.call('PATCH', `/tickets/${id}`, { status: 'CLOSED' });
    expect(await getEtag(id)).toBe(seen.at(-1));
  });

  it('returns the same ETag for POST, PATCH and GET of a ticket', async () => {
    const made = await workspace.call('POST', '/tickets', ticket);
    const { id } = made.body.data;
    expect(made.headers.etag).toBe(await getEtag(id));
    const changed = await workspace.call('PATCH', `/tickets/${id}`, { priority: 'LOW' });
    expect(changed.headers.etag).toBe(await getEtag(id));
  });

  it('accepts only one of 10 concurrent changes with the same If-Match', async () => {
    const { id } = await workspace.createTicket();
    const headers = { 'if-match': String(await getEtag(id)) };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => workspace.call('PATCH', `/tickets/${id}`, { title: `Title ${i}` }, headers)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)]);
  });

  it('restarts the ticket version at 1 after the maximum value of the column type', async () => {
    const { id } = await workspace.createTicket();
    await api.prisma.$executeRaw`ALTER TABLE tickets DISABLE TRIGGER tickets_next_version`;
    await api.prisma.$executeRaw`UPDATE tickets SET version = 2147483647 WHERE id = ${id}`;
    await api.prisma.$executeRaw`ALTER TABLE tickets ENABLE TRIGGER tickets_next_version`;
    const { status, headers } = await workspace.call('PATCH', `/tickets/${id}`, { title: 'Other' });
    expect([status, headers.etag]).toEqual([200, expect.stringMatching(/^"1-/)]);
  });
});
