import { readFile } from 'node:fs/promises';
import { type OpenApi, openApiDocument, type Schema } from '@itsm-api/contract/openapi';
import { describe, expect, it } from 'vitest';
import { findBreaks } from './compatibility.ts';

/**
 * Clients of the baseline must work with the current API. Until the first release, the baseline is an earlier state of
 * the API. At each release, `contract/openapi.json` becomes the baseline.
 */
it('keeps the OpenAPI document compatible with the baseline', async () => {
  const baseline = await readFile(new URL('../../contract/baseline/openapi.json', import.meta.url), 'utf8');
  expect(findBreaks(JSON.parse(baseline), openApiDocument())).toEqual([]);
});

/** A part of the OpenAPI document that a test changes. */
// biome-ignore lint/suspicious/noExplicitAny: the tests know the structure
type Part = any;

const unchanged = openApiDocument();

function changed(change: (document: Part) => void): string[] {
  const present = structuredClone(unchanged);
  change(present);
  return findBreaks(unchanged, present);
}

const tickets = '/tickets';
const schema = (document: OpenApi, name: string) => document.components.schemas[name] as Part;

describe('breaking changes of the document', () => {
  it.each<[what: string, change: (document: Part) => void, found: string]>([
    ['a removed path', (d) => delete d.paths['/users'], 'path /users is removed'],
    ['a removed operation', (d) => delete d.paths[tickets].post, 'operation /tickets post is removed'],
    ['another operationId', (d) => (d.paths[tickets].get.operationId = 'x'), 'operationId tickets_list is changed'],
    ['another scope', (d) => (d.paths[tickets].get['x-required-scope'] = 'kb:read'), 'the scope tickets:read became'],
    ['a newly required key', (d) => (d.paths['/ping'].get['x-required-scope'] = 'kb:read'), 'the scope none became'],
    [
      'a removed security scheme',
      (d) => delete d.components.securitySchemes.apiKey,
      'security scheme apiKey is removed',
    ],
    ['a removed parameter', (d) => d.paths[tickets].get.parameters.pop(), 'parameter query sort is removed'],
    [
      'a new required parameter',
      (d) => d.paths[tickets].get.parameters.push({ name: 'x', in: 'query', required: true, schema: {} }),
      'parameter query x is newly required',
    ],
    [
      'a parameter that became required',
      (d) => (d.components.parameters.Page.required = true),
      'parameter query page is newly required',
    ],
    [
      'another serialization of a parameter',
      (d) => (d.components.parameters.TicketStatusFilter.explode = false),
      'parameter query status is written otherwise',
    ],
    [
      'a tighter maximum of a parameter',
      (d) => (d.components.parameters.PerPage.schema.maximum = 50),
      'parameter query perPage: maximum is tighter',
    ],
    ['a removed body', (d) => delete d.paths[tickets].post.requestBody, 'the body is removed'],
    [
      'a new body',
      (d) => (d.paths['/webhooks/{id}'].delete.requestBody = d.paths['/webhooks'].post.requestBody),
      'a body is newly required',
    ],
    [
      'a removed field of a request',
      (d) => delete schema(d, 'NewTask').properties.dueDate,
      'body.dueDate: the field is removed',
    ],
    [
      'a new required field of a request',
      (d) => schema(d, 'NewTask').required.push('dueDate'),
      'body.dueDate: the field is newly required',
    ],
    [
      'a tighter length',
      (d) => (schema(d, 'NewTask').properties.title.maxLength = 80),
      'body.title: maxLength is tighter',
    ],
    ['a new pattern', (d) => (schema(d, 'NewTask').properties.title.pattern = '^A'), 'body.title: pattern is tighter'],
    [
      'a new format',
      (d) => (schema(d, 'NewTask').properties.title.format = 'uri'),
      'body.title: format none became uri',
    ],
    [
      'null that is no longer accepted',
      (d) => (schema(d, 'NewTask').properties.description.type = 'string'),
      'body.description: type null is no longer taken',
    ],
    [
      'a removed enum value of a request',
      (d) => schema(d, 'TicketType').enum.pop(),
      'value SERVICE_REQUEST is no longer taken',
    ],
    [
      'an enum in place of any string',
      (d) => (schema(d, 'NewWebhook').properties.secret.enum = ['a']),
      'body.secret: only some values are still taken',
    ],
    [
      'a type that custom fields no longer accept',
      (d) => schema(d, 'CustomFieldValue').anyOf.shift(),
      'the choice {"type":"string"',
    ],
    [
      'a new type of custom fields',
      (d) => schema(d, 'CustomFieldValue').anyOf.push({ type: 'object' }),
      'the choice {"type":"object"} is new',
    ],
    [
      'additional fields that are no longer accepted',
      (d) => (schema(d, 'CustomFieldsPatch').additionalProperties = false),
      'no longer taken',
    ],
    ['a removed response', (d) => delete d.paths[tickets].get.responses[429], 'response 429 is removed'],
    [
      'a removed header',
      (d) => delete d.components.responses.RateLimitExceeded.headers['Retry-After'],
      'response 429: header Retry-After is removed',
    ],
    [
      'a removed field of a response',
      (d) => delete schema(d, 'Ticket').properties.closedAt,
      'closedAt: the field is removed',
    ],
    ['a field that may be absent', (d) => schema(d, 'Ticket').required.shift(), 'data.id: the field may be absent now'],
    [
      'another type of a field',
      (d) => (schema(d, 'Ticket').properties.id.type = 'string'),
      'data.id: type string is new',
    ],
    [
      'a field that may be null',
      (d) => (schema(d, 'User').properties.email.type = ['string', 'null']),
      'email: type null is new',
    ],
    [
      'a removed type of a response field',
      (d) => delete schema(d, 'User').properties.email.type,
      'email: the type is open now',
    ],
    [
      'another format of a field',
      (d) => (schema(d, 'Task').properties.dueDate.format = 'date-time'),
      'dueDate: format date became date-time',
    ],
    [
      'int32 for an integer without a format',
      (d) => (d.components.parameters.Page.schema.format = 'int32'),
      'parameter query page: format none became int32',
    ],
    [
      'int32 in place of int64',
      (d) => (schema(d, 'Ticket').properties.id.format = 'int32'),
      'data.id: format int64 became int32',
    ],
    [
      'int64 for a string',
      (d) => (schema(d, 'NewTask').properties.title.format = 'int64'),
      'body.title: format none became int64',
    ],
    [
      'null that a named schema no longer accepts',
      (d) => (schema(d, 'NewTicket').properties.category = { $ref: '#/components/schemas/TicketCategory' }),
      'body.category: type null is no longer taken',
    ],
    [
      'a property of a map with another type',
      (d) => (schema(d, 'CustomFields').properties = { added: { type: 'object' } }),
      'customFields.added: the choices are others',
    ],
    [
      'another constant',
      (d) => (schema(d, 'Pong').properties.version.const = 'v2'),
      'version: the constant is changed',
    ],
    ['a removed event', (d) => delete d.webhooks['asset.created'], 'event asset.created is removed'],
    [
      'a removed header of a delivery',
      (d) => d.webhooks['ticket.created'].post.parameters.shift(),
      'header header X-Service-Signature',
    ],
    [
      'a removed field of an event',
      (d) => delete schema(d, 'TicketUpdatedEvent').properties.changes,
      'ticket.updated.changes: the field is removed',
    ],
  ])('detects a breaking change of the OpenAPI document: %s', (_, change, found) => {
    expect(changed(change).join('\n')).toContain(found);
  });
});

describe('compatible changes of the document', () => {
  it.each<[what: string, change: (document: Part) => void]>([
    ['a new operation', (d) => (d.paths['/knowledge'] = d.paths[tickets])],
    ['a new optional parameter', (d) => d.paths[tickets].get.parameters.push(optional)],
    ['a new optional field of a request', (d) => (schema(d, 'NewTask').properties.note = { type: 'string' })],
    ['a new field of a response', (d) => (schema(d, 'Ticket').properties.note = { type: 'string' })],
    [
      'an additional type of a request field',
      (d) => {
        const { title } = schema(d, 'NewTask').properties;
        schema(d, 'NewTask').properties.title = { anyOf: [title, { type: 'integer' }] };
      },
    ],
    [
      'an additional type of a nullable request field',
      (d) => {
        d.components.schemas.Either = { anyOf: [{ type: 'string' }, { type: 'integer' }] };
        schema(d, 'NewTask').properties.description = {
          anyOf: [{ $ref: '#/components/schemas/Either' }, { type: 'null' }],
        };
      },
    ],
    ['a new enum value', (d) => schema(d, 'TicketStatus').enum.push('ON_HOLD')],
    ['int64 for an integer without a format', (d) => (d.components.parameters.Page.schema.format = 'int64')],
    [
      'a nullable reference in another notation',
      (d) =>
        (schema(d, 'NewTask').properties.priority = {
          anyOf: [{ $ref: '#/components/schemas/Priority' }, { type: 'null' }],
        }),
    ],
    [
      'a new field of changes',
      (d) => (schema(d, 'TicketChanges').properties.added = schema(d, 'TicketChanges').properties.title),
    ],
    ['a longer text in requests', (d) => (schema(d, 'NewTask').properties.title.maxLength = 500)],
    ['a required field that became optional', (d) => schema(d, 'NewTicket').required.pop()],
    ['a new event', (d) => (d.webhooks['asset.updated'] = d.webhooks['asset.created'])],
    ['another description', (d) => (d.paths[tickets].get.description = 'Lists.')],
    ['a new error', (d) => (d.paths[tickets].get.responses[410] = d.paths[tickets].get.responses[500])],
  ])('accepts a compatible change of the OpenAPI document: %s', (_, change) => {
    expect(changed(change)).toEqual([]);
  });

  it('accepts int32 for an integer without a format whose limits fit', () => {
    const released: Part = structuredClone(unchanged);
    delete released.components.parameters.PerPage.schema.format;
    expect(findBreaks(released, unchanged)).toEqual([]);
  });

  const optional = { name: 'x', in: 'query', required: false, schema: { type: 'string' } satisfies Schema };
});
