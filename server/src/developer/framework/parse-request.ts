import type { FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { ApiError } from '../../shared/errors.ts';
import { detailsOf, unknownField, validationError } from '../../shared/validation.ts';
import type { AnyForm, AnyPage, PageRequest } from './page.ts';
import type { RequestContext } from './request-context.ts';

/**
 * Parses the parameters and the query.
 * @throws ApiError NOT_FOUND or VALIDATION_ERROR
 */
export function parsePageRequest(
  page: AnyPage,
  { visit, request }: { visit: RequestContext; request: FastifyRequest },
): PageRequest<RequestContext> {
  const { form, ...query } = request.query as Record<string, unknown>;
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, String(each)]),
    ),
  );
  const path = request.url.split('?')[0];
  return {
    visit,
    params:
      page.params === undefined
        ? {}
        : parseParameters(page.params, page.hasParamsInQuery === true ? query : request.params),
    query: page.query === undefined ? {} : parseWith(page.query, query, 'is not a query parameter of this page'),
    address: search.size === 0 ? `${path}` : `${path}?${search}`,
    sent: {},
  };
}

/**
 * Parses the parameters that identify a resource.
 * @throws ApiError NOT_FOUND if a parameter is invalid, because no resource has such an address
 */
function parseParameters(schema: NonNullable<AnyPage['params']>, params: unknown): unknown {
  const result = schema.safeParse(params);
  if (!result.success) throw new ApiError('NOT_FOUND', 'This page does not exist. Check the address.');
  return result.data;
}

/**
 * Parses the submitted fields of a form.
 * @throws ApiError VALIDATION_ERROR with a detail for each invalid field
 */
export function parseFields({ fields }: AnyForm, visit: RequestContext, values: unknown): unknown {
  return parseWith(typeof fields === 'function' ? fields(visit) : fields, values, unknownField);
}

/**
 * Parses a value with a schema.
 * @throws ApiError VALIDATION_ERROR with a detail for each invalid field
 */
export function parseWith(schema: z.ZodType, value: unknown, unknownName: string): unknown {
  const result = schema.safeParse(value);
  if (!result.success) throw validationError(detailsOf(result.error.issues, unknownName));
  return result.data;
}
