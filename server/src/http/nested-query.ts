import type { FastifyInstance } from 'fastify';
import * as z from 'zod';

/**
 * Combines the parameters `customFields[key]` of a request into the object `customFields`, as the contract describes
 * them (OpenAPI calls this style `deepObject`). Other endpoints reject these parameters by their full names.
 */
export function addNestedQuery(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { query } = route.config?.tsRestRoute ?? {};
    if (query instanceof z.ZodObject && 'customFields' in query.shape) {
      route.preValidation = (request, _reply, done) => {
        request.query = nest(request.query as Record<string, unknown>);
        done();
      };
    }
  });
}

// Schemas of records ignore the name `__proto__`, so this parameter must stay an unknown one.
const nestedName = /^customFields\[(?!__proto__\]$)(.*)\]$/s;

function nest(query: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(query).filter((name) => nestedName.test(name));
  if (names.length === 0 || 'customFields' in query) return query;
  const others = Object.entries(query).filter(([name]) => !names.includes(name));
  const nested = names.map((name) => [nestedName.exec(name)?.[1], query[name]]);
  return { ...Object.fromEntries(others), customFields: Object.fromEntries(nested) };
}
