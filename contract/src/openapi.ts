import { generateOpenApi } from '@ts-rest/open-api';
import { type Endpoint, pathPrefix } from './endpoint.ts';
import { ErrorEnvelope } from './errors.ts';
import { errorExamples } from './openapi/error-examples.ts';
import { headers } from './openapi/headers.ts';
import { completed, type DraftedOperation, sharedResponses } from './openapi/operations.ts';
import { introduction } from './openapi/prose.ts';
import { describeSchema } from './openapi/schema-transformer.ts';
import { type Schemas, toSchema } from './openapi/schemas.ts';
import type { OpenApi, Parameter } from './openapi/types.ts';
import { deliveriesDescription, deliveryHeaders, describeWebhooks } from './openapi/webhook-operations.ts';
import { tags } from './registry.ts';
import { contract } from './ts-rest.ts';

export type { DescribedField } from './openapi/described-fields.ts';
export { eventJsonSchema } from './openapi/event-json-schema.ts';
export { changelogPath } from './openapi/prose.ts';
export { downgrade } from './openapi/to-openapi-3.0.ts';
export type { CodeSample, OpenApi, Operation, Schema } from './openapi/types.ts';
export { type DescribedWorkspace, maxListedCategories, splitDocument } from './openapi/workspace-document.ts';

/**
 * Builds the OpenAPI 3.1 document of the API. All its content comes from the contract.
 * @param of the endpoints by resource; tests pass endpoints that the API doesn't have
 */
export function openApiDocument(of: Record<string, Record<string, Endpoint>> = contract): OpenApi {
  const schemas: Schemas = {};
  const parameters: Record<string, Parameter> = {};
  toSchema(ErrorEnvelope, 'output', schemas);
  const paths = describePaths(of, { schemas, parameters });
  const webhooks = describeWebhooks(schemas);
  return {
    openapi: '3.1.1',
    info: {
      title: 'ITSM Public API',
      version: '1.0.0',
      description: introduction,
      contact: { name: 'The administrators of your workspace' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: pathPrefix, description: 'The base path of the API on your server' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: Object.entries({ ...tags, events: deliveriesDescription }).map(([name, description]) => ({
      name,
      'x-displayName': `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      description,
    })),
    paths,
    webhooks,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: '`Authorization: Bearer <API_KEY>`' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: '`X-API-Key: <API_KEY>`' },
      },
      parameters: { ...parameters, ...deliveryHeaders },
      headers,
      responses: sharedResponses,
      examples: errorExamples,
      schemas,
    },
  };
}

/**
 * Returns the paths of the OpenAPI document. ts-rest converts the contract to paths, parameters, bodies and responses.
 * This function passes the JSON Schemas to ts-rest, and adds the data that ts-rest doesn't generate.
 */
function describePaths(
  of: Record<string, Record<string, Endpoint>>,
  components: { schemas: Schemas; parameters: Record<string, Parameter> },
): OpenApi['paths'] {
  const { paths } = generateOpenApi(
    of,
    { info: { title: '', version: '' } },
    {
      setOperationId: 'concatenated-path',
      schemaTransformer: (place) => describeSchema(place, components.schemas) as never,
      operationMapper: (drafted, route) =>
        completed(drafted as DraftedOperation, route as Endpoint, components) as never,
    },
  );
  const below = Object.entries(paths).map(([path, operations]) => [path.slice(pathPrefix.length), operations]);
  return Object.fromEntries(below) as OpenApi['paths'];
}
