import { createClient } from '@itsm-api/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

let api: Api;
let workspace: Workspace;
let baseUrl: string;

beforeAll(async () => {
  api = await startApi();
  workspace = await createWorkspace(api);
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => api.close());

it('creates, lists and updates tickets over HTTP, typed', async () => {
  const client = createClient({ baseUrl: `${baseUrl}/`, apiKey: workspace.key });
  const created = await client.tickets.create({ query: {}, body: ticket });
  if (created.status !== 201) throw new Error(created.body.error.message);
  const { id } = created.body.data;

  const listed = await client.tickets.list({ query: { status: ['OPEN', 'PENDING'], perPage: 5 } });
  expect(listed).toMatchObject({ status: 200, body: { data: [{ id }], meta: { perPage: 5, totalCount: 1 } } });

  const updated = await client.tickets.update({ params: { id }, query: {}, body: { status: 'IN_PROGRESS' } });
  expect(updated).toMatchObject({ status: 200, body: { data: { id, status: 'IN_PROGRESS' } } });
});

it('answers an error as the contract says', async () => {
  const client = createClient({ baseUrl });
  const { status, body, headers } = await client.tickets.get({ params: { id: 1 }, query: {} });
  expect(status).toBe(401);
  expect(body).toMatchObject({ success: false, error: { code: 'INVALID_API_KEY' } });
  expect(headers.get('x-request-id')).toBeTruthy();
});
