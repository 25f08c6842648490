import { pathPrefix } from '@itsm-api/contract';
import { describe, expect } from 'vitest';
import { errorOf, startApi } from '../support/api.ts';
import { sendBare } from '../support/bare.ts';
import { api, itWithApi as it } from '../support/fixture.ts';
import { endpoints } from '../support/samples.ts';

let port: number;

it.beforeAll(async () => {
  port = Number(new URL(await api.app.listen({ port: 0, host: '127.0.0.1' })).port);
});

const paths = [...new Set(endpoints.map(({ route }) => route.path.replace(/:\w+/, '42')))];

describe.each(paths)('%s', (path) => {
  // The path `/tickets/bulk` also matches the route `/tickets/:id`, so it supports the methods of both routes.
  const own = endpoints
    .filter(({ route }) => new RegExp(`^${route.path.replace(/:\w+/, '[^/]+')}$`).test(path))
    .map(({ route }) => route.method);
  const allowed = [...new Set(own.includes('GET') ? [...own, 'HEAD'] : own)];

  it('lists the supported methods of a path in the error for an unsupported method', async () => {
    for (const method of ['PUT', 'POST', 'DELETE', 'OPTIONS', 'QUERY'].filter((each) => !allowed.includes(each))) {
      const answer = await api.call({ method, path });
      expect(answer.status, method).toBe(404);
      expect(answer.headers.allow?.split(', ').sort()).toEqual([...allowed].sort());
      expect(errorOf(answer).message).toContain(`This path doesn't support ${method}. Use one of these methods: `);
    }
  });

  it('suggests the path without a trailing slash in the 404 error', async () => {
    for (const method of ['GET', 'POST', 'QUERY']) {
      const answer = await api.call({ method, path: `${path}/?page=1` });
      expect(answer.status).toBe(404);
      expect(errorOf(answer)).toMatchObject({ code: 'NOT_FOUND', message: expect.stringMatching(`Use ${path}\\.$`) });
    }
  });
});

it.each([
  '/nope',
  `${pathPrefix}/tickets/1/2`,
  '/nope/',
  `${pathPrefix}/`,
  '//',
  `${pathPrefix}/${'t'.repeat(10_000)}`,
])('returns 404 with a link to /docs for %s', async (path) => {
  const answer = await api.call({ method: 'GET', path });
  expect(answer.status).toBe(404);
  expect(answer.headers.allow).toBeUndefined();
  expect(errorOf(answer).message).toContain(`start with ${pathPrefix}. See /docs for all paths.`);
});

it.each([
  [`${pathPrefix}/tickts`, `${pathPrefix}/tickets`],
  [`${pathPrefix}/tickets/7/coments?page=2`, `${pathPrefix}/tickets/7/comments`],
  ['/projects/7/tasks', `${pathPrefix}/projects/7/tasks`],
])('suggests the most similar path for the unknown path %s', async (path, nearest) => {
  const { message } = errorOf(await api.call({ method: 'GET', path }));
  expect(message).toBe(`Path not found. Did you mean ${nearest}?`);
});

it.each(['/developer/keys', '/developer', '/developer/keys/new'])(
  'suggests %s on the 404 page for a path with a trailing slash',
  async (path) => {
    const answer = await api.call({ method: 'GET', path: `${path}/` });
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining(`Use ${path}.`)]);
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  },
);

it.each(['POST', 'PUT'])('sends no Allow header for a %s request to an unknown page', async (method) => {
  for (const path of ['/developer/nope', '/developer/nope/', '/developer/files/nope']) {
    const answer = await api.call({ method, path });
    expect([answer.status, answer.headers.allow]).toEqual([404, undefined]);
  }
  const known = await api.call({ method: 'PUT', path: '/developer/keys/new' });
  expect([known.status, known.headers.allow]).toEqual([404, 'GET, HEAD, POST']);
});

it('returns 404 for a path with 400,000 slashes', async () => {
  const answer = await api.call({ method: 'GET', path: `${'/'.repeat(400_000)}a` });
  expect(answer.status).toBe(404);
});

it.each(['/', '/docs', '/openapi.json'])('allows only GET and HEAD requests to %s', async (path) => {
  expect((await api.call({ method: 'GET', path })).status).toBeLessThan(400);
  expect((await api.call({ method: 'DELETE', path })).headers.allow).toBe('GET, HEAD');
});

it.each([
  ['an unknown path', 'POST', '/nope'],
  ['an unsupported method', 'PUT', `${pathPrefix}/tickets`],
  ['a trailing slash', 'POST', `${pathPrefix}/tickets/`],
])('returns 404 for %s without waiting for the request body', async (_, method, path) => {
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
  const answer = await sendBare(port, `${head}{"title":`);
  expect(answer.status).toBe(404);
});

it('sends CORS headers in the error for an unsupported method', async () => {
  const origin = 'https://app.example.com';
  const open = await startApi({ env: { CORS_ORIGINS: origin } });
  const answer = await open.call({ method: 'PUT', path: `${pathPrefix}/tickets`, headers: { origin } });
  expect(answer.status).toBe(404);
  expect(answer.headers.allow).toBe('GET, HEAD, POST');
  expect(answer.headers['access-control-allow-origin']).toBe(origin);
  await open.close();
});
