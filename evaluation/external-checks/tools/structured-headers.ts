import { pathPrefix } from '@itsm-api/contract';
import { type ExternalCheck, load, type Product, toResult, versionReader } from '../external-check.ts';
import { pagesOf } from '../pages.ts';

/**
 * The types of structured fields (RFC 9651). The second group are older headers whose values also have this syntax
 * (draft-ietf-httpbis-retrofit).
 */
const types: Record<string, 'Item' | 'List' | 'Dictionary'> = {
  ...{ ratelimit: 'List', 'ratelimit-policy': 'List', deprecation: 'Item', 'permissions-policy': 'Dictionary' },
  ...{ 'cross-origin-opener-policy': 'Item', 'cross-origin-embedder-policy': 'Item', 'origin-agent-cluster': 'Item' },
  ...{ 'content-digest': 'Dictionary', 'repr-digest': 'Dictionary', priority: 'Dictionary', 'accept-patch': 'List' },

  ...{ 'cache-control': 'Dictionary', vary: 'List', allow: 'List', 'retry-after': 'Item', 'content-type': 'Item' },
  ...{ 'content-length': 'Item', 'x-content-type-options': 'Item', 'x-frame-options': 'Item', 'accept-ranges': 'List' },
  ...{ 'strict-transport-security': 'Dictionary', 'access-control-expose-headers': 'List' },
};

/** structured-headers, which parses headers as RFC 9651 defines. */
export const structuredHeaders: ExternalCheck = {
  name: 'structured-headers',
  about: 'Each structured header of responses of the API, the MCP server and all pages. A check is a header.',
  version: versionReader('structured-headers'),
  async run(product) {
    const parsers = load('structured-headers');
    const received = [...(await responsesOf(product)), ...(await pagesOf(product))];
    const headers = received.flatMap(({ path, headers }) =>
      [...headers].flatMap(([name, value]) => {
        const type = types[name];
        return type === undefined ? [] : [{ path, name, value, type }];
      }),
    );
    const findings = headers.flatMap(({ path, name, value, type }) => {
      try {
        parsers[`parse${type}`](value);
        return [];
      } catch (error) {
        return [{ rule: name, message: `${path}: ${value}: ${(error as Error).message}` }];
      }
    });
    return toResult(headers.length, findings);
  },
};

/** Sends requests that cover the headers of the API: with success, errors, an ETag, a file, and an MCP message. */
async function responsesOf({ origin, key }: Product): Promise<{ path: string; headers: Headers }[]> {
  const authorization = `Bearer ${key}`;
  const requests: [path: string, init: RequestInit][] = [
    ...['/ping', '/me', '/tickets', '/tickets/1', '/tickets/0', '/openapi.json', '/attachments/1/content'].map(
      (path): [string, RequestInit] => [pathPrefix + path, { headers: { authorization } }],
    ),
    [`${pathPrefix}/me`, {}],
    [`${pathPrefix}/me`, { method: 'OPTIONS' }],
    [`${pathPrefix}/tickets/1`, { method: 'PUT', headers: { authorization } }],
    ['/mcp', { method: 'POST', headers: { authorization, accept: 'application/json, text/event-stream' }, body: '{}' }],
    ['/openapi.json', {}],
    ['/llms.txt', {}],
  ];
  return Promise.all(
    requests.map(async ([path, init]) => {
      const { headers } = await fetch(origin + path, init);
      return { path, headers };
    }),
  );
}
