import { initContract } from '@ts-rest/core';
import * as declared from './index.ts';
import { ErrorEnvelope, pathPrefix } from './index.ts';

/** The resources of the API, in the order of the OpenAPI document. */
const names = [
  'ping',
  'me',
  'tickets',
  'comments',
  'attachments',
  'links',
  'approvals',
  'assets',
  'articles',
  'activities',
  'projects',
  'tasks',
  'users',
  'teams',
  'fields',
  'ticketCategories',
  'document',
  'webhooks',
  'deliveries',
] as const;
type Resources = Pick<typeof declared, (typeof names)[number]>;

interface Options {
  pathPrefix: typeof pathPrefix;
  strictStatusCodes: true;
  commonResponses: Record<400 | 401 | 403 | 404 | 412 | 429 | 500, typeof ErrorEnvelope>;
}
const options: Options = {
  pathPrefix,
  strictStatusCodes: true,
  commonResponses: {
    400: ErrorEnvelope,
    401: ErrorEnvelope,
    403: ErrorEnvelope,
    404: ErrorEnvelope,
    412: ErrorEnvelope,
    429: ErrorEnvelope,
    500: ErrorEnvelope,
  },
};

const router: ReturnType<typeof initContract>['router'] = initContract().router;

// The name of this type keeps the declaration file small. For an inferred type, TypeScript would write all endpoints with
// their expanded schemas, which take 900 KB.
export type Contract = ReturnType<typeof router<Resources, typeof pathPrefix, Options>>;

/**
 * The ts-rest router of every endpoint: method, path, query, body, responses, scope and group. The server, the client,
 * the OpenAPI document and the tests in test/rules are derived from this contract.
 */
export const contract: Contract = router<Resources, typeof pathPrefix, Options>(
  // biome-ignore lint/performance/noDynamicNamespaceImportAccess: the router has all resources, so nothing can be omitted
  Object.fromEntries(names.map((name) => [name, declared[name]])) as Resources,
  options,
);
