import { errors, pathPrefix } from '@itsm-api/contract';
import { expect } from 'vitest';
import { errorOf, startApi } from '../support/api.ts';
import { api, itWithApi as it } from '../support/fixture.ts';
import { createWorkspace } from '../support/workspace.ts';

it('links an error response to the documentation of its error code', async () => {
  const { docs } = errorOf(await api.call({ method: 'GET', path: `${pathPrefix}/tickets` }));
  expect(docs).toBe('/docs/errors#INVALID_API_KEY');
  const [path = '', anchor = ''] = docs.split('#');
  const page = await api.call({ method: 'GET', path });
  expect(page.status).toBe(200);
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.headers['content-security-policy']).toMatch(/^default-src 'none';/);
  expect(page.text).toContain(`id="${anchor}"`);
});

it('documents the status and the remedy of every error code', async () => {
  const { text } = await api.call({ method: 'GET', path: '/docs/errors' });
  expect([...text.matchAll(/<h2 id="(\w+)">/g)].map(([, code]) => code)).toEqual(Object.keys(errors));
  for (const { status, remedy } of Object.values(errors)) {
    expect(text).toContain(`Status ${status}.`);
    expect(text.replaceAll(/<\/?code>/g, '`')).toContain(remedy);
  }
});

it('links errors of requests and bulk items to the documentation at PUBLIC_URL', async () => {
  const served = await startApi({ env: { PUBLIC_URL: 'https://itsm.example.com' } });
  const workspace = await createWorkspace(served);
  const rejected = await served.call({ method: 'GET', path: `${pathPrefix}/tickets` });
  expect(errorOf(rejected).docs).toBe('https://itsm.example.com/docs/errors#INVALID_API_KEY');
  const { body } = await workspace.call('POST', '/tickets/bulk', { tickets: [{}] });
  expect(body.data[0].error.docs).toBe('https://itsm.example.com/docs/errors#VALIDATION_ERROR');
  await served.close();
});
