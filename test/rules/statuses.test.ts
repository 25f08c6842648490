import { acceptsIfMatch, acceptsIfNoneMatch, errors, isVersioned } from '@itsm-api/contract';
import { openApiDocument } from '@itsm-api/contract/openapi';
import { describe, expect } from 'vitest';
import { specifiedStatuses as specified } from '../openapi/operations.ts';
import type { Answer } from '../support/api.ts';
import { api, itWithApi as it } from '../support/fixture.ts';
import { createSender, endpoints, type SampledEndpoint } from '../support/samples.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/**
 * Public endpoints return the statuses in the specification (spec §7). If a request contains a header that the
 * specification doesn't define, an endpoint can also return another status (docs/decisions/errors.md).
 */
/** The response status while the server starts and can't run handlers yet. */
const withoutHandler = 503;
/** Statuses that are not in the specification, each with the request header that can cause it. */
const conditionalStatuses: Record<number, string> = { 304: 'If-None-Match', 409: 'Idempotency-Key', 412: 'If-Match' };

let workspace: Workspace;

it('maps error codes only to specified statuses, statuses of conditional requests and 503', () => {
  const others = Object.entries(errors).filter(
    ([, { status }]) => !specified.includes(status) && !(status in conditionalStatuses),
  );
  expect(others.map(([code]) => code)).toEqual(['SERVICE_UNAVAILABLE']);
  expect(errors.SERVICE_UNAVAILABLE.status).toBe(withoutHandler);
});

it('documents the statuses 304 and 412 only for operations that accept the conditional header', () => {
  const operations = Object.values(openApiDocument().paths).flatMap((item) => Object.values(item));
  for (const { operationId, responses, parameters = [] } of operations) {
    const headers = parameters.map((each) => ('$ref' in each ? each.$ref.split('/').at(-1) : each.name));
    expect(Object.keys(responses), operationId).toContain(String(withoutHandler));
    for (const status of Object.keys(responses).map(Number)) {
      if (specified.includes(status) || status === withoutHandler) continue;
      // The body of a proposal contains the `If-Match` of its request.
      if (operationId === 'proposals_create' && status === 412) continue;
      expect(headers, `${operationId} ${status}`).toContain(conditionalStatuses[status]);
    }
  }
});

describe.each(endpoints)('$title', (endpoint) => {
  const send = createSender(endpoint, () => ({ api, workspace }));
  let reader: string;

  // Each endpoint has a new workspace, because the API limits the number of some resources per workspace.
  it.beforeAll(async () => {
    workspace = await createWorkspace(api);
    reader = await workspace.createKey({ scopes: ['kb:read'] });
  });

  /** Sends one valid request and several invalid requests, each with a different error. */
  async function sendRequests(headers: Record<string, string>): Promise<Answer[]> {
    const absent = endpoint.route.path.replace(/:\w+/, '9007199254740991');
    const changes = [{}, { path: absent }, { path: `${absent}?surprise=1` }, { body: '{' }, { key: undefined }];
    const answers: Answer[] = [];
    for (const change of [...changes, { key: reader }]) answers.push(await send({ headers, ...change }));
    return answers;
  }

  it('returns only statuses from the specification for requests without conditional headers', async () => {
    for (const { status, text } of await sendRequests({})) expect(specified, text).toContain(status);
  });

  it('returns only documented statuses for conditional requests', async () => {
    const documented = [
      ...specified,
      ...(acceptsIfMatch(endpoint.route) ? [412] : []),
      ...(acceptsIfNoneMatch(endpoint.route) ? [304] : []),
    ];
    for (const tags of ['', '*', '"1"', 'W/"1"', 'nonsense', '"', `"${'x'.repeat(5000)}`]) {
      const answers = await sendRequests({ 'if-match': tags, 'if-none-match': tags });
      for (const { status, text } of answers)
        expect.soft(documented, `${tags.slice(0, 20)}: ${text}`).toContain(status);
    }
  });
});

it('supports conditional requests for resources with a version, but not for comments', () => {
  const titles = (asks: (route: SampledEndpoint['route']) => boolean) =>
    endpoints.filter(({ route }) => asks(route)).map(({ title }) => title);
  expect(titles(acceptsIfNoneMatch)).toEqual(expect.arrayContaining(['GET /tickets/:id', 'GET /projects/:id']));
  const changing = ['PATCH /tickets/:id', 'PATCH /assets/:id', 'PATCH /tasks/:taskId', 'DELETE /webhooks/:id'];
  expect(titles(acceptsIfMatch)).toEqual(expect.arrayContaining(changing));
  expect(titles(isVersioned).filter((title) => title.includes('/comments'))).toEqual([]);
});
