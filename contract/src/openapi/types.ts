import type { OpenAPIV3_1 } from 'openapi-types';
import type { defaultFileType } from '../resources/attachments.ts';

/*
 * The types of OpenAPI 3.1 objects. A field that OpenAPI declares as optional is mandatory here if our document always
 * contains it.
 */

type With<Base, Fields> = Omit<Base, keyof Fields> & Fields;

/** A schema in JSON Schema 2020-12. The package openapi-types defines only the schema keywords of OpenAPI 3.0. */
export type Schema = Record<string, unknown>;

export type Reference = OpenAPIV3_1.ReferenceObject;
export type Example = OpenAPIV3_1.ExampleObject;
export type Header = With<OpenAPIV3_1.HeaderObject, { schema: Schema }>;
export type Parameter = With<OpenAPIV3_1.ParameterObject, { required?: boolean; schema: Schema }>;

/** The body of a request or response: JSON, or a file with any content type. */
export type Content = Partial<JsonContent> & Partial<Record<'*/*' | typeof defaultFileType, { schema: Schema }>>;
export type JsonContent = Record<'application/json', { schema: Schema; examples: Record<string, Example | Reference> }>;

export type Response = With<
  OpenAPIV3_1.ResponseObject,
  { headers?: Record<string, Reference | Header>; content?: Content }
>;

export type Operation = With<
  OpenAPIV3_1.OperationObject,
  {
    operationId: string;
    tags: string[];
    parameters?: (Parameter | Reference)[];
    requestBody?: { description: string; required: true; content: Content };
    responses: Record<string, Response | Reference>;
    /** The scope that the API key needs. Absent if the operation requires no API key or no specific scope. */
    'x-required-scope'?: string;
    /** Code samples that call the operation. Absent for webhooks, because the server sends webhook requests. */
    'x-codeSamples'?: CodeSample[];
  }
>;

/** https://redocly.com/docs-legacy/api-reference-docs/specification-extensions/x-code-samples */
export interface CodeSample {
  /** The name of the language for syntax highlighting. */
  lang: string;
  label: string;
  source: string;
}

export type Components = With<
  Required<Pick<OpenAPIV3_1.ComponentsObject, 'securitySchemes'>>,
  {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    headers: Record<string, Header>;
    examples: Record<string, Example>;
    responses: Record<string, Response>;
  }
>;

export type OpenApi = With<
  Pick<OpenAPIV3_1.Document, 'openapi'>,
  {
    info: With<OpenAPIV3_1.InfoObject, { license: OpenAPIV3_1.LicenseObject }>;
    servers: OpenAPIV3_1.ServerObject[];
    tags: OpenAPIV3_1.TagObject[];
    security: OpenAPIV3_1.SecurityRequirementObject[];
    paths: Record<string, Record<string, Operation>>;
    webhooks?: Record<string, { post: Operation }>;
    components: Components;
  }
>;
