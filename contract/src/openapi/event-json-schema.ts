import type { EventType } from '../event-types.ts';
import { deliveryBody, events } from '../events.ts';
import { componentNamed, mapSchema, type Schemas, toSchema } from './schemas.ts';

/**
 * Returns the JSON Schema (2020-12) of the body of a webhook delivery. The named schemas that it refers to are in
 * `$defs`, so the result needs no other file. Like the OpenAPI document, it accepts fields that newer servers add.
 */
export function eventJsonSchema(type: EventType): Record<string, unknown> {
  const schemas: Schemas = {};
  const body = toSchema(deliveryBody(type), 'output', schemas);
  const schema = { title: type, description: events[type].when, ...body, $defs: schemas };
  const within = mapSchema(schema, ({ $ref, ...rest }) => {
    return typeof $ref === 'string' ? { $ref: `#/$defs/${componentNamed($ref)}`, ...rest } : rest;
  });
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...(within as object) };
}
