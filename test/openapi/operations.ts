import {
  type CodeSample,
  type OpenApi,
  type Operation,
  openApiDocument,
  type Schema,
} from '@itsm-api/contract/openapi';

export const document = openApiDocument();

/** The statuses that every operation can return (spec §7). */
export const specifiedStatuses = [200, 201, 400, 401, 403, 404, 429, 500];

/** A parameter whose references are resolved. */
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  style?: string;
  schema: Schema;
}

/** An operation of the OpenAPI document, and its path. References in nested schemas are not resolved. */
export interface DocumentedOperation {
  id: string;
  method: string;
  /** The path without the API prefix, for example `/tickets/{id}`. */
  path: string;
  parameters: Parameter[];
  body: { schema: Schema; example: unknown } | undefined;
  /** Whether the body of a request is a file. */
  isUpload: boolean;
  samples: CodeSample[];
  responses: Record<string, DocumentedResponse>;
}

interface Content {
  'application/json': { schema: Schema; examples: object };
}

interface DocumentedResponse {
  schema: Schema;
  /** The names of the response examples. The names of error examples are error codes. */
  examples: string[];
  headers: string[];
}

export const operations: DocumentedOperation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    parameters: (operation.parameters ?? []).map((each) => follow<Parameter>(each)),
    body: bodyOf(operation),
    isUpload: operation.requestBody?.content['application/octet-stream'] !== undefined,
    samples: operation['x-codeSamples'] ?? [],
    responses: responsesOf(operation),
  })),
);

const order = ['GET', 'POST', 'PATCH', 'DELETE'];

/**
 * All operations, in an order in which each can use the example ids of a new demo workspace. GET operations are first,
 * so that they can't depend on rows that a test has created. DELETE operations are last, because most other operations
 * fail for a deactivated resource.
 */
export const demoOrder = operations.toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method));

function bodyOf({ requestBody }: Operation): DocumentedOperation['body'] {
  const json = requestBody?.content['application/json'];
  if (json === undefined) return undefined;
  const { schema, examples } = json;
  return { schema, example: follow<{ value: unknown }>(examples.example).value };
}

function responsesOf({ responses }: Operation): DocumentedOperation['responses'] {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const { content, headers = {} } = follow<{ content?: Content; headers?: object }>(response);
      const { schema, examples } = content?.['application/json'] ?? { schema: {}, examples: {} };
      const always = Object.entries(headers).filter(([, header]) => follow(header).required !== false);
      return [status, { schema, examples: Object.keys(examples), headers: always.map(([name]) => name) }];
    }),
  );
}

/** Resolves references in an OpenAPI document. Returns all other values unchanged. */
export function follow<Target = Schema>(value: unknown, into: OpenApi = document): Target {
  const { $ref } = value as { $ref?: string };
  if ($ref === undefined) return value as Target;
  const parts = $ref.slice(2).split('/');
  // A schema can consist of a reference and a description.
  return follow(
    parts.reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], into),
    into,
  );
}
