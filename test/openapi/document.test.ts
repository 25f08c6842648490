import { readFile } from 'node:fs/promises';
import { deliverySchedule, EventType } from '@itsm-api/contract';
import { downgrade, type OpenApi, openApiDocument } from '@itsm-api/contract/openapi';
import { setStrictMode } from '@itsm-api/server/resources/custom-fields/strict-mode.ts';
import { signatureHeaders } from '@itsm-api/server/webhooks/delivery/sign.ts';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect } from 'vitest';
import { parse } from 'yaml';
import { api, itWithApi as it } from '../support/fixture.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Tests the OpenAPI documents that the server sends, and checks them with a linter. */

async function get(path: string) {
  const { status, headers, text } = await api.call({ method: 'GET', path });
  expect(status).toBe(200);
  return { type: headers['content-type'], text };
}

it('serves the committed OpenAPI document as JSON without an API key', async () => {
  const committed = await readFile(new URL('../../contract/openapi.json', import.meta.url), 'utf8');
  const { type, text } = await get('/openapi.json');
  expect(type).toBe('application/json; charset=utf-8');
  expect(JSON.parse(text)).toEqual(JSON.parse(committed));
});

it('serves the OpenAPI document as YAML with the same content', async () => {
  const { type, text } = await get('/openapi.yaml');
  expect(type).toBe('application/yaml; charset=utf-8');
  expect(parse(text)).toEqual(openApiDocument());
});

it('serves an OpenAPI 3.0 document without webhooks', async () => {
  const { text } = await get('/openapi-3.0.json');
  const document = JSON.parse(text);
  expect(document.openapi).toBe('3.0.3');
  expect(document).not.toHaveProperty('webhooks');
  expect(Object.keys(document.paths)).toEqual(Object.keys(openApiDocument().paths));
  expect(document.components.schemas.Ticket.properties.resolution).toMatchObject({ type: 'string', nullable: true });
});

it('serves a JSON Schema of each event that accepts the example and rejects incomplete events', async () => {
  const { webhooks = {} } = openApiDocument();
  expect(Object.keys(webhooks)).toEqual(EventType.options);
  for (const [type, { post }] of Object.entries(webhooks)) {
    const { type: contentType, text } = await get(`/schemas/${type}.json`);
    expect(contentType).toBe('application/json; charset=utf-8');
    const ajv = new Ajv2020({ strict: true, strictTypes: false });
    formats.default(ajv);
    for (const keyword of ['example', 'x-deprecated-since', 'x-sunset']) ajv.addKeyword(keyword);
    const validate = ajv.compile(JSON.parse(text));
    const example = post.requestBody?.content['application/json']?.examples.example;
    const event = example && 'value' in example ? example.value : undefined;
    expect(validate(event), ajv.errorsText(validate.errors)).toBe(true);
    expect(validate({ ...event, addedLater: 1 })).toBe(true);
    expect(validate({ ...event, type: 'ticket.deleted' })).toBe(false);
    expect(validate({ ...event, timestamp: undefined })).toBe(false);
  }
});

it('links to the changelog from the description of the OpenAPI document', async () => {
  const [, path = ''] = /\[the changelog\]\((.*?)\)/.exec(openApiDocument().info.description ?? '') ?? [];
  const { text } = await get(path);
  expect(text).toContain('<h1>Changelog</h1>');
});

describe('the description of deliveries', () => {
  const { description = '' } = openApiDocument().tags.find(({ name }) => name === 'events') ?? {};
  const cells = Object.fromEntries(
    [...description.matchAll(/^\| `?([\w ~-]+?)`? \| `(.*)` \|$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  const { secret = '', 'raw body': body = '' } = cells;

  it('documents the correct signatures of the example delivery', () => {
    const timestamp = new Date(Number(cells['webhook-timestamp']) * 1000);
    const signed = signatureHeaders(secret, { id: cells['webhook-id'] ?? '', timestamp, body });
    for (const [name, value] of Object.entries(signed)) {
      expect(Object.entries(cells).find(([cell]) => cell.toLowerCase() === name)?.[1], name).toBe(value);
    }
  });

  it('documents sample code that verifies webhook signatures correctly', async () => {
    const code = /^```js\n(.*?)^```$/ms.exec(description)?.[1] ?? '';
    const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    const headers = { 'x-service-signature': cells['X-Service-Signature'] };
    expect(isGenuine(body, headers, secret)).toBe(true);
    expect(isGenuine(`${body} `, headers, secret)).toBe(false);
    expect(isGenuine(body, {}, secret)).toBe(false);
  });

  it('documents the actual delivery limits in the OpenAPI document', () => {
    const [second, day] = [1000, 24 * 60 * 60 * 1000];
    const { waits, attemptTimeout, pauseAfter } = deliverySchedule;
    expect([waits.length + 1, attemptTimeout / second, pauseAfter / day]).toEqual([10, 15, 5]);
    for (const figure of ['10 attempts in all', 'within 15 seconds', 'five days'])
      expect(description).toContain(figure);
  });
});

/** Returns the rules of Redocly that a document violates, and the locations of the violations. */
async function lint(document: OpenApi): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`);
}

describe('Redocly with recommended-strict', () => {
  it('finds no linter problems in the OpenAPI 3.1 document', async () => {
    expect(await lint(openApiDocument())).toEqual([]);
  });

  it('finds no linter problems in the OpenAPI 3.0 document', async () => {
    expect(await lint(downgrade(openApiDocument()))).toEqual([]);
  });

  it("finds no linter problems in a workspace's document", async () => {
    const workspace = await createWorkspace(api);
    const options = [{ value: 'berlin', label: 'Berlin' }];
    await workspace.createField({ key: 'site', type: 'SELECT', options, filterable: true });
    await workspace.createField({ resource: 'ASSET', key: 'rooms', type: 'MULTI_SELECT', options, filterable: true });
    await workspace.createTicketCategory();
    await setStrictMode(workspace.context, true);
    expect(await lint((await workspace.call('GET', '/openapi.json')).body)).toEqual([]);
  });

  it('reports an incomplete info section of an OpenAPI document', async () => {
    const document = { ...openApiDocument(), paths: {}, webhooks: {}, components: {} };
    const problems = await lint({ ...document, info: { title: document.info.title } } as OpenApi);
    expect(problems.join()).toMatch(/info/);
  });
});
