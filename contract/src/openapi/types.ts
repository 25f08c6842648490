/** JSON Schema 2020-12, as OpenAPI 3.1 takes it. */
export type Schema = Record<string, unknown>;

export interface Reference {
  $ref: string;
}

export interface Header {
  description: string;
  required?: boolean;
  schema: Schema;
  example: unknown;
}

export interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required: boolean;
  description: string;
  schema: Schema;
  style?: 'form';
  explode?: true;
  example?: unknown;
}

export interface Example {
  summary?: string;
  value: unknown;
}

export interface Content {
  'application/json': { schema: Schema; examples: Record<string, Example | Reference> };
}

export interface Response {
  description: string;
  headers?: Record<string, Reference>;
  content?: Content;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security?: Record<string, string[]>[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { required: true; content: Content };
  responses: Record<string, Response | Reference>;
  /** The scope that the key must carry; absent where no key is needed. */
  'x-required-scope'?: string;
}

export interface Components {
  schemas: Record<string, Schema>;
  parameters: Record<string, Parameter>;
  headers: Record<string, Header>;
  examples: Record<string, Example>;
  responses: Record<string, Response>;
  securitySchemes: Record<string, Record<string, string>>;
}

export interface OpenApi {
  openapi: string;
  info: {
    title: string;
    version: string;
    summary?: string;
    description: string;
    contact: { name: string };
    license: { name: string; identifier?: string; url?: string };
  };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post: Operation }>;
  components: Components;
}
