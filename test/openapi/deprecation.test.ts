import {
  deprecated,
  type Endpoint,
  endpoints,
  item,
  list,
  listQuery,
  meta,
  NoQuery,
  pathPrefix,
} from '@itsm-api/contract';
import { openApiDocument } from '@itsm-api/contract/openapi';
import { addDefaultHeaders } from '@itsm-api/server/http/default-headers.ts';
import Fastify from 'fastify';
import { expect, it } from 'vitest';
import * as z from 'zod';

/* Tests the deprecation of endpoints and fields with endpoints that the API doesn't have (docs/guides/versioning.md). */
const old = deprecated({ since: '2026-12-01', sunset: '2027-12-01' });
const older = deprecated({ since: '2026-11-30', sunset: '2028-01-15' });

const Part = z
  .object({
    id: z.int().meta({ description: 'The id.' }),
    label: z.string().meta({ description: 'The label. Use `name` instead.', ...older }),
  })
  .meta({ id: 'FixturePart', description: 'A part.', example: { id: 1, label: 'A' } });
const Whole = z
  .object({
    id: z.int().meta({ description: 'The id.' }),
    parts: z.array(Part).nullable().meta({ description: 'The parts.' }),
  })
  .meta({ id: 'FixtureWhole', description: 'A whole.', example: { id: 1, parts: null } });
const Plain = z
  .object({ id: z.int().meta({ description: 'The id.' }) })
  .meta({ id: 'FixturePlain', description: 'A plain resource.', example: { id: 1 } });
const flag = z
  .string()
  .optional()
  .meta({ description: 'Has no effect.', ...old });

const keyed = { scope: 'any', group: 'tickets' } as const;
const fixtures = endpoints({
  endpoint: {
    method: 'GET',
    path: `${pathPrefix}/endpoint`,
    summary: 'Get a plain resource',
    metadata: meta({ ...keyed, ...old }),
    query: NoQuery,
    responses: { 200: item(Plain) },
  },
  field: {
    method: 'GET',
    path: `${pathPrefix}/field`,
    summary: 'Get a whole',
    metadata: meta({ ...keyed, ...old }),
    query: NoQuery,
    responses: { 200: item(Whole) },
  },
  parameter: {
    method: 'GET',
    path: `${pathPrefix}/parameter`,
    summary: 'List plain resources',
    metadata: meta(keyed),
    query: listQuery({ flag }),
    responses: { 200: list(Plain) },
  },
  current: {
    method: 'GET',
    path: `${pathPrefix}/current`,
    summary: 'Get a plain resource',
    metadata: meta(keyed),
    query: NoQuery,
    responses: { 200: item(Plain) },
  },
});

it('adds Deprecation and Sunset to all responses of endpoints with a deprecation, with the earliest dates', async () => {
  const app = Fastify().decorate('publicUrl', undefined);
  addDefaultHeaders(app);
  for (const route of Object.values<Endpoint>(fixtures)) {
    app.get(route.path, { config: { tsRestRoute: route as never } }, async ({ query }) => {
      if (Object.hasOwn(query as object, 'fail')) throw new Error('failed');
      return {};
    });
  }
  const headersOf = async (path: string) => {
    const { headers } = await app.inject(`${pathPrefix}${path}`);
    return [headers.deprecation, headers.sunset];
  };
  // 2026-12-01 and 2026-11-30 at 00:00 UTC, in Unix seconds.
  const [december, november] = ['@1796083200', '@1795996800'];
  const sunset = 'Wed, 01 Dec 2027 00:00:00 GMT';
  expect(await headersOf('/endpoint')).toEqual([december, sunset]);
  expect(await headersOf('/endpoint?fail')).toEqual([december, sunset]);
  expect(await headersOf('/field')).toEqual([november, sunset]);
  expect(await headersOf('/parameter')).toEqual([december, sunset]);
  expect(await headersOf('/current')).toEqual([undefined, undefined]);
  await app.close();
});

it('marks deprecated endpoints, fields and parameters in the OpenAPI document', () => {
  const { paths, components } = openApiDocument({ fixtures });
  const marks = { deprecated: true, 'x-deprecated-since': '2026-12-01', 'x-sunset': '2027-12-01' };
  const operation = paths['/endpoint']?.get;
  expect(operation).toMatchObject(marks);
  expect(operation?.responses['200']).toMatchObject({
    headers: { Deprecation: { example: '@1796083200' }, Sunset: { example: 'Wed, 01 Dec 2027 00:00:00 GMT' } },
  });
  expect(components.schemas.FixturePart).toMatchObject({
    properties: {
      label: { deprecated: true, 'x-sunset': '2028-01-15' },
      id: expect.not.objectContaining({ deprecated: true }),
    },
  });
  expect(components.parameters.FixtureFlag).toMatchObject({ deprecated: true, schema: marks });
  expect(paths['/parameter']?.get).not.toHaveProperty('deprecated');
  expect(JSON.stringify(paths['/current'])).not.toMatch(/deprecat|sunset/i);
});

it('rejects a deprecation with less than twelve months until the removal', () => {
  expect(() => deprecated({ since: '2026-12-01', sunset: '2027-11-30' })).toThrow('at least 12 months');
  expect(() => deprecated({ since: '2026-12-01', sunset: 'soon' })).toThrow('at least 12 months');
});
