import type { AppRoute } from '@ts-rest/core';
import { generateOpenApi } from '@ts-rest/open-api';
import * as z from 'zod';
import { contract, type EndpointMeta, type ErrorCode, errors, groups, rateLimits, scopes } from './index.ts';

/** JSON Schema as OpenAPI 3.1 takes it. */
type Schema = Record<string, unknown>;

type OpenApi = ReturnType<typeof generateOpenApi>;
type Operation = Parameters<NonNullable<NonNullable<Parameters<typeof generateOpenApi>[2]>['operationMapper']>>[0];

/** The OpenAPI 3.1 document of the API, made from the contract and nothing else. */
export function openApiDocument(): OpenApi {
  const schemas: Record<string, Schema> = {};
  const document = generateOpenApi(
    contract,
    {
      info: {
        title: 'ITSM Public API',
        version: '1.0.0',
        description: introduction,
        license: { name: 'MIT', identifier: 'MIT' } as { name: string },
      },
      servers: [{ url: '/', description: "The workspace's own address" }],
      tags: [{ name: 'ping' }, ...groups.map((name) => ({ name })), { name: 'tasks' }],
      security: [{ bearer: [] }, { apiKey: [] }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_KEY>' },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        },
      },
    },
    {
      setOperationId: 'concatenated-path',
      schemaTransformer: ({ schema, type }) =>
        schema instanceof z.ZodType ? toSchema(schema, type === 'response' ? 'output' : 'input', schemas) : null,
      operationMapper: describeOperation,
    },
  );
  return { ...document, openapi: '3.1.1', components: { ...document.components, schemas } };
}

const introduction = [
  'Tickets, assets, projects and tasks, users and webhook subscriptions of one workspace.',
  'Every request but ping carries an API key; the key decides the workspace and what may be done.',
  `A key may send ${rateLimits.global} requests a minute, ${rateLimits.group} of them in each group of endpoints.`,
  'Every answer is an envelope: `success`, then `data` (and `meta` on lists) or `error`.',
].join('\n\n');

function describeOperation(operation: Operation, route: AppRoute): Operation {
  const { scope } = route.metadata as EndpointMeta;
  const description = [
    operation.description,
    scope === null ? 'Needs no key.' : `Needs the scope \`${scope}\` (${scopes[scope].toLowerCase()}).`,
  ];
  return {
    ...operation,
    operationId: operation.operationId?.replaceAll('.', '_'),
    description: description.filter(Boolean).join('\n\n'),
    ...(scope === null ? { security: [] } : { 'x-required-scope': scope }),
    ...(operation.requestBody && { requestBody: { ...operation.requestBody, required: true } }),
    responses: Object.fromEntries(
      Object.entries(operation.responses)
        .filter(([status]) => answers(route, Number(status)))
        .map(([status, response]) => [status, { ...response, description: describeStatus(Number(status)) }]),
    ),
  };
}

/** Whether the endpoint can answer with the status at all. */
function answers(route: AppRoute, status: number): boolean {
  const { scope } = route.metadata as EndpointMeta;
  if (scope === null) return status === 200 || status === 500;
  return status !== 404 || route.pathParams !== undefined;
}

function describeStatus(status: number): string {
  if (status < 300) return status === 201 ? 'Created.' : 'Success.';
  const codes = (Object.keys(errors) as ErrorCode[]).filter((code) => errors[code].status === status);
  return codes.map((code) => `${code}: ${errors[code].when}`).join('\n\n');
}

/** The schema of one place, named schemas as references into `schemas`, where they are collected. */
function toSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, Schema>): Schema {
  const { properties, $defs } = z.toJSONSchema(z.object({ root: schema }), {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      delete jsonSchema.id;
      // An answer may get new fields; a request may not have unknown ones.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  for (const [name, definition] of Object.entries($defs ?? {})) {
    const named = tidy(definition) as Schema;
    if (name in schemas && JSON.stringify(schemas[name]) !== JSON.stringify(named)) {
      throw new Error(`The schema ${name} is not the same in requests and in answers; give one another id.`);
    }
    schemas[name] = named;
  }
  return tidy(properties?.root) as Schema;
}

/** References into the components, and `type: [T, "null"]` for what may be null: generators stumble over `anyOf`. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== 'object' || value === null) return value;
  const schema = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, tidy(inner)]));
  if (typeof schema.$ref === 'string') schema.$ref = schema.$ref.replace('#/$defs/', '#/components/schemas/');
  const { anyOf, ...rest } = schema as { anyOf?: Schema[] };
  const other = anyOf?.length === 2 && anyOf[1]?.type === 'null' ? anyOf[0] : undefined;
  if (other === undefined || typeof other.type !== 'string') return schema;
  return { ...other, ...rest, type: [other.type, 'null'] };
}
