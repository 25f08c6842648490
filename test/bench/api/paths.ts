import type { Data } from './data.ts';

/** One kind of request that is measured. */
export interface MeasuredPath {
  name: string;
  method: 'GET' | 'POST' | 'PATCH';
  /** The paths to be asked for, in turn; below the API's prefix. */
  paths(data: Data): string[];
  /** The bodies to be sent, in turn; in place of `[<id>]` each has a text of its own, so that a change is one. */
  bodies?: object[];
  headers?: Record<string, string>;
  /** Which API is measured, where it isn't the one whose tenant may have every connection. */
  server?: 'apiDefaultShare';
}

/** What is measured, the same for the API and the rungs beside it. */
export const measuredPaths: MeasuredPath[] = [
  { name: 'ping', method: 'GET', paths: () => ['/ping'] },
  { name: 'ticket by id', method: 'GET', paths: ({ ticketIds }) => ticketIds.map((id) => `/tickets/${id}`) },
  { name: 'list', method: 'GET', paths: () => ['/tickets'] },
  // The rungs beside it don't compress.
  { name: 'list, gzip', method: 'GET', paths: () => ['/tickets'], headers: { 'accept-encoding': 'gzip' } },
  { name: 'list, brotli', method: 'GET', paths: () => ['/tickets'], headers: { 'accept-encoding': 'br' } },
  { name: 'list by status', method: 'GET', paths: () => ['/tickets?status=OPEN'] },
  {
    name: 'the same, a quarter of the connections',
    method: 'GET',
    paths: () => ['/tickets?status=OPEN'],
    server: 'apiDefaultShare',
  },
  { name: 'list by assignee, no match', method: 'GET', paths: () => ['/tickets?assigneeId=999999999'] },
  { name: 'list, page 5,000', method: 'GET', paths: () => ['/tickets?page=5000'] },
  {
    name: 'create',
    method: 'POST',
    paths: () => ['/tickets'],
    bodies: [{ title: 'VPN drops', description: 'Every ten minutes.', type: 'INCIDENT', category: 'NETWORK' }],
  },
  {
    name: 'patch',
    method: 'PATCH',
    paths: ({ ticketIds }) => ticketIds.map((id) => `/tickets/${id}`),
    bodies: [{ title: 'VPN drops, again [<id>]' }],
  },
];
