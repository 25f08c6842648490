import type { Data } from './data.ts';

/** A kind of request that the benchmark measures. */
export interface MeasuredPath {
  name: string;
  method: 'GET' | 'POST' | 'PATCH';
  /** The paths to request in turn, relative to the API prefix. */
  paths(data: Data): string[];
  /**
   * The request bodies to send in turn. The load generator replaces `[<id>]` with unique text, so every request changes
   * the ticket.
   */
  bodies?: object[];
  headers?: Record<string, string>;
  /** The API server to measure. The default is the server that lets one tenant use every connection. */
  server?: 'apiDefaultShare';
}

/** The paths that the benchmark measures on the API and the reference servers. */
export const measuredPaths: MeasuredPath[] = [
  { name: 'ping', method: 'GET', paths: () => ['/ping'] },
  { name: 'ticket by id', method: 'GET', paths: ({ ticketIds }) => ticketIds.map((id) => `/tickets/${id}`) },
  { name: 'list', method: 'GET', paths: () => ['/tickets'] },
  // The reference servers don't compress responses.
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
