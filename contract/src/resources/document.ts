import { endpoints, FileContent, meta } from '../endpoint.ts';

export const document = endpoints({
  get: {
    method: 'GET',
    path: '/openapi.json',
    summary: 'Get the OpenAPI document of the workspace',
    description:
      'Returns the OpenAPI document with the custom fields, the ticket categories and the request forms of the workspace. ' +
      'It has an operation with typed answers for each active form. ' +
      'The schemas of requests list the fields with their types and values. The schemas of responses also allow other ' +
      'values, because stored values can be older than the definitions. ' +
      'For an import key, no custom field is required. Every API key can read the document, but only keys with the scope ' +
      '`tickets:read` get the ticket categories.',
    metadata: meta({ scope: 'any', group: 'users', binary: 'document' }),
    responses: { 200: FileContent },
  },
});
