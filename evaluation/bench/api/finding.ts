import { median } from '../../../test/support/percentiles.ts';
import { type Data, firstTicketId, watcherId } from './data.ts';
import type { Measured } from './servers.ts';
import { requestsOf, type Shot, shoot } from './shots.ts';

/** The latency of a request, measured with one request at a time and no other load. */
export interface FindingResult {
  request: string;
  p50Ms: number;
  p99Ms: number;
  /**
   * The total in the response, followed by "and more" if the total is capped. Undefined if the response has no total.
   */
  found: string | undefined;
}

/**
 * Returns list requests that are typical of integrations. The requests include date filters, and searches that match
 * many, few or no tickets.
 */
function requestsFor({ tickets }: Data): string[] {
  const middle = Date.UTC(2020, 0, 1) + (tickets / 2) * 15_000;
  const day = (days: number) => new Date(middle + days * 86_400_000).toISOString();
  return [
    'tickets?perPage=100',
    `tickets?createdSince=${day(0)}&createdBefore=${day(7)}`,
    `tickets?requesterId=11`,
    `tickets?requesterId=11&status=OPEN`,
    `tickets?watcherUserId=${watcherId}`,
    `tickets?parentId=${firstTicketId}`,
    'tickets?assigneeId=me',
    'tickets?assigneeId=none&status=OPEN',
    'tickets?status=OPEN&createdSince=2015-01-01T00:00:00Z',
    `tickets?status=OPEN&createdBefore=${day(0)}`,
    'tickets?type=INCIDENT&dueSince=2015-01-01T00:00:00Z',
    'tickets?q=network',
    'tickets?q=network&sort=id',
    'tickets?q=since the connection',
    'tickets?q=printer',
    'tickets?q=printer&page=100',
    'tickets?q=print',
    'tickets?q=printer&status=OPEN',
    'tickets?q=network&status=OPEN',
    `tickets?q=network&watcherUserId=${watcherId}`,
    'tickets?q=network&requesterId=11',
    'tickets?q=INC-17',
    'tickets?q=ticket 1234',
    'tickets?q=nowhere',
    'users?q=user',
  ];
}

/** Creates assets and ticket comments. Returns requests for assets, users, comments and activity. */
async function otherRequests(server: Measured, data: Data): Promise<string[]> {
  const make = async (path: string, body: object) =>
    (await ask<{ id: number }>(server, data, path, { method: 'POST', body: JSON.stringify(body) })).data.id;
  const ticket = `tickets/${firstTicketId}`;
  // Assets from an earlier run can exist, so the new asset tags must be unique.
  const run = Date.now();
  let asset = 0;
  for (let made = 0; made < 500; made++) {
    const name = `Laptop of ${made}`;
    asset = await make('/assets', { name, assetTag: `${run}-${made}`, type: 'LAPTOP' });
    await make(`/${ticket}/comments`, { body: `${name} is on its way.`, visibility: 'PUBLIC' });
  }
  return [
    'me',
    `assets/${asset}`,
    'users/11',
    'assets?q=laptop',
    `${ticket}/comments`,
    `${ticket}/activity`,
    'comments/changes',
    'tickets/activity',
    'assets/activity',
    'assets/changes',
    'users/changes',
  ];
}

/** The number of rounds. Other load on the machine can distort a round, so the results are medians. */
const rounds = 3;

/**
 * Measures the latency of searches, filters and change feeds. Reads the ticket change feed from its start, middle and
 * end. Returns the medians of the rounds.
 */
export async function measureFinding(
  server: Measured,
  { data, onProgress }: { data: Data; onProgress: (text: string) => void },
): Promise<FindingResult[]> {
  const expected = [
    ...requestsFor(data),
    ...(await changesRequests(server, data)),
    ...(await otherRequests(server, data)),
  ];
  const measured = expected.map((request) => ({
    request: decodeURIComponent(request)
      .replace(/cursor=.*/, 'cursor=…')
      .replace(/(?<=^assets\/)\d+/, '{id}'),
    path: `/${request.replaceAll(' ', '%20')}`,
    shots: [] as Shot[],
  }));
  for (let round = 1; round <= rounds; round++) {
    for (const [i, { path, shots }] of measured.entries()) {
      onProgress(`searches and changes: ${i + 1} of ${measured.length}, round ${round} of ${rounds}`);
      const requests = requestsOf({ method: 'GET', paths: () => [path] }, data);
      shots.push(await shoot(server, { connections: 1, seconds: 3, requests }));
    }
  }
  const results: FindingResult[] = [];
  for (const { request, path, shots } of measured) {
    const { meta } = await ask(server, data, path);
    const { totalCount, totalCountCapped } = meta ?? {};
    results.push({
      request,
      p50Ms: median(shots.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(shots.map(({ p99Ms }) => p99Ms)),
      found: totalCount === undefined ? undefined : `${totalCount}${totalCountCapped ? ' and more' : ''}`,
    });
  }
  return results;
}

async function changesRequests(server: Measured, data: Data): Promise<string[]> {
  const middle = new Date(Date.UTC(2020, 0, 1) + (data.tickets / 2) * 15_000).toISOString();
  const { meta } = await ask(server, data, `/tickets/changes?since=${middle}`);
  const { meta: end } = await ask(server, data, `/tickets/changes?since=${new Date().toISOString()}`);
  const from = (cursor: unknown) => `tickets/changes?cursor=${cursor}`;
  return ['tickets/changes', `tickets/changes?since=${middle}`, from(meta?.nextCursor), from(end?.nextCursor)];
}

async function ask<Row = unknown>({ url }: Measured, data: Data, path: string, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${data.keys[0]}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/public/v1${path}`, { headers, ...init });
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as { data: Row; meta?: Record<string, unknown> };
}
