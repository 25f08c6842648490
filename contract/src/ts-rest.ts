import { initContract } from '@ts-rest/core';
import { ErrorEnvelope, pathPrefix } from './index.ts';
import { type Resources, resources } from './registry.ts';

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
export const contract: Contract = router<Resources, typeof pathPrefix, Options>(resources, options);
