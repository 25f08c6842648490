import { contract } from '@itsm-api/contract';
import { initClient } from '@ts-rest/core';

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
  });
}
