import { hasBody } from '@itsm-api/contract';
import { describe, expect } from 'vitest';
import { type Call, errorOf } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { createSender, endpoints, keyedEndpoints } from '../support/samples.ts';
import { ticket, webhook } from '../support/workspace.ts';

describe.each(keyedEndpoints)('$title', (endpoint) => {
  const send = createSender(endpoint, () => ({ api, workspace }));

  it('returns 400 and names the unknown query parameter in a request', async () => {
    const answer = await send({ query: 'surprise=1' });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'surprise' }] });
  });
});

const invalidBodies: [what: string, body: Call['body'], headers: Record<string, string>, code: string][] = [
  ['no body', undefined, {}, 'INVALID_JSON'],
  ['an empty body', '', {}, 'INVALID_JSON'],
  ['malformed JSON', '{"title":', {}, 'INVALID_JSON'],
  ['invalid UTF-8', new Uint8Array([0x22, 0xff, 0x22]), {}, 'INVALID_JSON'],
  ['__proto__', '{"__proto__":{"admin":true}}', {}, 'INVALID_JSON'],
  ['text/plain', '{}', { 'content-type': 'text/plain' }, 'UNSUPPORTED_MEDIA_TYPE'],
  ['no content type', '{}', { 'content-type': '' }, 'UNSUPPORTED_MEDIA_TYPE'],
  ['another charset', '{}', { 'content-type': 'application/json; charset=latin1' }, 'UNSUPPORTED_MEDIA_TYPE'],
  ['JSON nested 5,000 deep', '['.repeat(5000) + ']'.repeat(5000), {}, 'PAYLOAD_TOO_LARGE'],
  ['JSON nested 33 deep', '['.repeat(33) + ']'.repeat(33), {}, 'PAYLOAD_TOO_LARGE'],
  ['20,001 values', `[${'0,'.repeat(19_999)}0]`, {}, 'PAYLOAD_TOO_LARGE'],
  ['500,001 values', `{"title":[${'0,'.repeat(500_000)}0]}`, {}, 'PAYLOAD_TOO_LARGE'],
  ['20,001 objects', `[${'{ },'.repeat(19_999)}{}]`, {}, 'PAYLOAD_TOO_LARGE'],
  ['20,000 values', `[${'[ ],'.repeat(19_998)}0]`, {}, 'VALIDATION_ERROR'],
  ['a string that looks like many values', JSON.stringify(['\\"[,'.repeat(20_000), '\\']), {}, 'VALIDATION_ERROR'],
  ['more than a mebibyte', `{"title":"${'x'.repeat(2 ** 20)}"}`, {}, 'PAYLOAD_TOO_LARGE'],
  ['an array', '[]', {}, 'VALIDATION_ERROR'],
  ['null', 'null', {}, 'VALIDATION_ERROR'],
  ['an empty object', '{}', {}, 'VALIDATION_ERROR'],
  ['field names with NUL or lone surrogates', '{"a\\u0000b":1,"\\ud800":1}', {}, 'VALIDATION_ERROR'],
];

const withBody = keyedEndpoints.filter(({ route }) => hasBody(route));

describe.each(withBody)('$title with an invalid body', (endpoint) => {
  const send = createSender(endpoint, () => ({ api, workspace }));

  it('returns 400 and names the unknown field in a request body', async () => {
    const answer = await send(({ body }) => ({ body: { ...body, surprise: 1 } }));
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'surprise' }] });
  });

  it('returns 400 for each invalid body', async () => {
    for (const [what, body, headers, code] of invalidBodies) {
      const answer = await send({ body, headers });
      expect.soft([answer.status, errorOf(answer)?.code], `${what}: ${answer.text}`).toEqual([400, code]);
    }
  });

  it('rejects a body with too many values before it parses the JSON', async () => {
    // The JSON text is truncated, so the server would return INVALID_JSON if it parsed the text.
    const answer = await send({ body: `{"title":[${'0,'.repeat(20_000)}` });
    expect(errorOf(answer)).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      message: 'The body has more than 20000 values. Send less data in each request.',
    });
  });

  it('reports at most 20 unknown fields and truncates their names to 100 characters', async () => {
    const names = Array.from({ length: 15_000 }, (_, i) => (i === 0 ? 'n'.repeat(5000) : `k${i}`));
    // The operation of a proposal determines its fields.
    const known = ({ operation }: Record<string, unknown> = {}) => (operation === undefined ? {} : { operation });
    const unknown = Object.fromEntries(names.map((name) => [name, 1]));
    const answer = await send(({ body }) => ({ body: { ...known(body), ...unknown } }));
    expect(answer.status).toBe(400);
    const { details = [] } = errorOf(answer);
    expect(details).toHaveLength(20);
    expect(Math.max(...details.map(({ path }) => path.length))).toBeLessThanOrEqual(101);
  });
});

const invalidIds = ['0', '-1', '1e3', '0x10', '9007199254740993', '1.5', ' 1', '01', 'abc', '%00', 'null', '٣'];
/** The endpoints whose path contains an id. A path can also contain a key, such as the key of a request form. */
const withId = keyedEndpoints.filter(({ route }) => /\/:\w*id\b/i.test(route.path));

describe.each(withId)('$title with an invalid id', (endpoint) => {
  const send = createSender(endpoint, () => ({ api, workspace }));

  it('returns 400 for each invalid id in the path', async () => {
    for (const id of invalidIds) {
      const answer = await send({ path: endpoint.route.path.replace(/:\w+/, encodeURI(id)) });
      const { code, details } = errorOf(answer) ?? {};
      expect.soft([answer.status, code], `${id}: ${answer.text}`).toEqual([400, 'VALIDATION_ERROR']);
      expect.soft(details?.[0]?.path, id).toMatch(/id$/i);
    }
  });

  it('returns 404 for an unknown id in the path', async () => {
    const answer = await send(({ params = {} }) => ({
      params: Object.fromEntries(Object.keys(params).map((name) => [name, 9007199254740991])),
    }));
    expect(answer.status).toBe(404);
    expect(errorOf(answer).code).toBe('NOT_FOUND');
  });
});

const withoutBody = endpoints.filter(({ route }) => !hasBody(route) && route.metadata.binary !== 'request');

describe.each(withoutBody)('$title, which needs no body', (endpoint) => {
  const send = createSender(endpoint, () => ({ api, workspace }));

  it('accepts an empty body with any content type', async () => {
    for (const contentType of ['application/json', 'text/plain', 'nonsense']) {
      const answer = await send({ headers: { 'content-type': contentType } });
      expect.soft(answer.status, `${contentType}: ${answer.text}`).toBe(endpoint.success);
    }
  });
});

const invalidPages = [
  ...['page=0', 'page=-1', 'page=1.5', 'page=1e3', 'page=', 'page=abc', 'page=1&page=2', 'page=9007199254740993'],
  ...['perPage=0', 'perPage=101', 'perPage=20&perPage=20', 'perPage=0x10'],
];
const lists = keyedEndpoints.filter(({ route }) => 'page' in ((route.query as { shape?: object }).shape ?? {}));

describe.each(lists)('$title as a list', (endpoint) => {
  const send = createSender(endpoint, () => ({ api, workspace }));

  it('returns 400 for each invalid page', async () => {
    for (const query of invalidPages) {
      const answer = await send({ query });
      expect.soft(answer.status, `${query}: ${answer.text}`).toBe(400);
      expect.soft(errorOf(answer)?.details?.[0]?.path, query).toBe(query.split('=')[0]);
    }
  });

  it('returns an empty page and the totalCount for a page after the last one', async () => {
    for (const page of [99_999_999_999, Number.MAX_SAFE_INTEGER]) {
      const [first, past] = [await send({ query: 'perPage=1' }), await send({ query: `page=${page}&perPage=100` })];
      expect(past.status).toBe(200);
      expect(past.body.data).toEqual([]);
      expect(past.body.meta).toEqual({ page, perPage: 100, totalCount: first.body.meta.totalCount });
    }
  });

  it('returns page 1 with up to 20 rows of a list by default', async () => {
    expect((await send({})).body.meta).toMatchObject({ page: 1, perPage: 20 });
  });

  it('returns 400 for an empty or invalid value of each filter of a list', async () => {
    const shape = (endpoint.route.query as unknown as { shape: object }).shape;
    for (const name of Object.keys(shape).filter((each) => each !== 'page' && each !== 'perPage')) {
      const answer = await send({ query: `${name}=` });
      expect(answer.status, `${name}= answered ${answer.text}`).toBe(400);
      // The filters `email` and `q` accept any text, so no value is invalid.
      if (name === 'email' || name === 'q') continue;
      // These filters accept any text, and the first three also commas.
      const acceptsCommas = ['assetTag', 'serialNumber', 'categoryConfigId'].includes(name);
      const acceptsText = acceptsCommas || name === 'externalId' || endpoint.title === 'GET /articles';
      const invalid = [
        '%00',
        ...(acceptsCommas ? [] : ['1,,2']),
        ...(acceptsText ? [] : ['-1']),
        // A tag can be a word.
        ...(acceptsText || name === 'tag' ? [] : ['NONSENSE']),
      ];
      for (const value of invalid) {
        const wrong = await send({ query: `${name}=${value}` });
        expect(wrong.status, `${name}=${value} answered ${wrong.text}`).toBe(400);
        expect(errorOf(wrong).details?.[0]?.path).toMatch(new RegExp(`^${name}`));
      }
    }
  });
});

describe('a body with several errors', () => {
  const long = `\0${'x'.repeat(65_536)}`;
  const keys = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, i === 0 ? {} : '']));
  const fields = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`f${i}`, i === 0 ? 'no array' : [1]]));

  it.each<[label: string, path: string, body: object, paths: string[]]>([
    ['missing fields of a ticket', '/tickets', {}, ['title', 'description', 'type', 'category']],
    [
      'fields, and values in them, of a ticket',
      '/tickets',
      {
        ...{ ...ticket, title: 1, description: long, customFields: keys },
        watcherUserIds: ['no id', ...Array.from({ length: 101 }, (_, i) => i + 1)],
        surprise: 1,
      },
      [
        'title',
        'description',
        'description',
        'watcherUserIds.0',
        'watcherUserIds',
        'customFields.k0',
        'customFields',
        'surprise',
      ],
    ],
    [
      'wrong types in a ticket',
      '/tickets',
      { ...ticket, watcherUserIds: {}, customFields: [] },
      ['watcherUserIds', 'customFields'],
    ],
    ['a body that is not an object', '/tickets', [], ['body']],
    [
      'references of a ticket',
      '/tickets',
      { ...ticket, assigneeId: 999_999, parentId: 999_999 },
      ['assigneeId', 'parentId'],
    ],
    ['values and size of a filter', '/webhooks', { ...webhook, filter: fields }, ['filter.f0', 'filter']],
    [
      'URL and filter of a webhook',
      '/webhooks',
      { ...webhook, url: 'http://localhost/', filter: { colour: ['red'], priority: ['URGENT'] } },
      ['url', 'filter.colour', 'filter.priority.0'],
    ],
  ])('reports all errors of a request in one response: %s', async (_, path, body, paths) => {
    const answer = await workspace.call('POST', path, body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer).details?.map((detail) => detail.path)).toEqual(paths);
  });
});

describe('GET /ping', () => {
  it('ignores query parameters and API keys in GET /ping requests', async () => {
    const answer = await api.call({ method: 'GET', path: '/api/public/v1/ping?x=1&page=0', key: 'nonsense' });
    expect(answer).toMatchObject({ status: 200, body: { success: true, data: { status: 'ok', version: 'v1' } } });
  });
});

describe('an unknown name', () => {
  it.each([
    ['GET', '/tickets?statu=OPEN', undefined, 'statu', 'is not a parameter of this endpoint. Did you mean `status`?'],
    ['GET', '/tickets?colour=red', undefined, 'colour', 'is not a parameter of this endpoint. Remove it.'],
    ['POST', '/tickets', { Title: 'x' }, 'Title', 'is not a field of this request. Did you mean `title`?'],
    ['POST', '/tickets', { titel: 'x' }, 'titel', 'is not a field of this request. Did you mean `title`?'],
  ] as const)(
    'suggests the most similar name for an unknown name: %s %s',
    async (method, path, body, name, message) => {
      const { details } = errorOf(await workspace.call(method, path, body));
      expect(details).toContainEqual({ path: name, message });
    },
  );
});
