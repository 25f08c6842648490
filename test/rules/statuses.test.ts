import { acceptsIfMatch, acceptsIfNoneMatch, errors, isVersioned } from '@itsm-api/contract';
import { openApiDocument } from '@itsm-api/contract/openapi';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { specifiedStatuses as specified } from '../openapi/operations.ts';
import { type Answer, type Api, startApi } from '../support/api.ts';
import { callOf, endpoints, type SampledEndpoint } from '../support/samples.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/*
 * Public routes answer with the statuses of the specification (spec §7). Others answer only requests that ask for them
 * with a header that the specification doesn't know (docs/decisions/errors.md).
 */
/** The status of states in which no handler runs. */
const withoutHandler = 503;
/** Statuses beyond the specification, and the header without which nobody gets one. */
const asked: Record<number, string> = { 304: 'If-None-Match', 409: 'Idempotency-Key', 412: 'If-Match' };

let api: Api;
let workspace: Workspace;

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

it('has a status of the specification for every code, one that a header asks for, or that of no handler', () => {
  const others = Object.entries(errors).filter(([, { status }]) => !specified.includes(status) && !(status in asked));
  expect(others.map(([code]) => code)).toEqual(['SERVICE_UNAVAILABLE']);
  expect(errors.SERVICE_UNAVAILABLE.status).toBe(withoutHandler);
});

it('the document names the others only where the header may be sent', () => {
  const operations = Object.values(openApiDocument().paths).flatMap((item) => Object.values(item));
  for (const { operationId, responses, parameters = [] } of operations) {
    const headers = parameters.map((each) => ('$ref' in each ? each.$ref.split('/').at(-1) : each.name));
    expect(Object.keys(responses), operationId).toContain(String(withoutHandler));
    for (const status of Object.keys(responses).map(Number)) {
      if (specified.includes(status) || status === withoutHandler) continue;
      expect(headers, `${operationId} ${status}`).toContain(asked[status]);
    }
  }
});

describe.each(endpoints)('$title', (endpoint) => {
  // Each makes rows of which a workspace may have so many.
  beforeEach(async () => {
    workspace = await createWorkspace(api);
  });

  /** The answers to a request that is right, and to some that are wrong in their own ways. */
  async function answers(headers: Record<string, string>): Promise<Answer[]> {
    const call = async (change: object = {}) => {
      const sample = await endpoint.sample(workspace);
      return api.call({ ...callOf(endpoint, sample), key: workspace.key, headers, ...change });
    };
    const absent = endpoint.route.path.replace(/:\w+/, '9007199254740991');
    return [
      await call(),
      await call({ path: absent }),
      await call({ path: `${absent}?surprise=1` }),
      await call({ body: '{' }),
      await call({ key: undefined }),
      await call({ key: await workspace.createKey({ scopes: ['kb:read'] }) }),
    ];
  }

  it('answers with a status of the specification', async () => {
    for (const { status, text } of await answers({})) expect(specified, text).toContain(status);
  });

  it.each(['', '*', '"1"', 'W/"1"', 'nonsense', '"', `"${'x'.repeat(5000)}`])(
    'answers so to conditions of %s, or with the status that they ask for',
    async (tags) => {
      const conditions = { 'if-match': tags, 'if-none-match': tags };
      const more = [
        ...(acceptsIfMatch(endpoint.route) ? [412] : []),
        ...(acceptsIfNoneMatch(endpoint.route) ? [304] : []),
      ];
      for (const { status, text } of await answers(conditions)) expect([...specified, ...more], text).toContain(status);
    },
  );
});

it('asks these conditions of the resources that have a version', () => {
  const titles = (asks: (route: SampledEndpoint['route']) => boolean) =>
    endpoints.filter(({ route }) => asks(route)).map(({ title }) => title);
  expect(titles(acceptsIfNoneMatch)).toEqual(expect.arrayContaining(['GET /tickets/:id', 'GET /projects/:id']));
  const changing = ['PATCH /tickets/:id', 'PATCH /assets/:id', 'PATCH /tasks/:taskId', 'DELETE /webhooks/:id'];
  expect(titles(acceptsIfMatch)).toEqual(expect.arrayContaining(changing));
  expect(titles(isVersioned).filter((title) => title.includes('/comments'))).toEqual([]);
});
