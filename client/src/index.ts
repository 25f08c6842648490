import { contract } from '@itsm-api/contract';
import { initClient, tsRestFetchApi } from '@ts-rest/core';

export interface ClientOptions {
  /** The workspace's own address, such as `https://acme.example.com`. */
  baseUrl: string;
  /** Sent as a bearer token; only ping works without. */
  apiKey?: string;
}

/**
 * A typed client of the API: a function per endpoint of the contract, resolving to the status, the headers and the
 * envelope. A status that the contract doesn't know is an error.
 */
export function createClient({ baseUrl, apiKey }: ClientOptions) {
  return initClient(contract, {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    baseHeaders: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    throwOnUnknownStatus: true,
    api: (request) => tsRestFetchApi({ ...request, path: withQuery(request.path, request.rawQuery) }),
  });
}

/** Several values of a filter are separated by commas; ts-rest would write `status[0]=…`. */
function withQuery(path: string, query: unknown): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const parameters = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  return parameters.size === 0 ? path : `${path.split('?')[0]}?${parameters}`;
}
