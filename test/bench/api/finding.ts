import { type Data, firstTicketId, watcherId } from './data.ts';
import type { Measured } from './servers.ts';
import { requestsOf, shoot } from './shots.ts';

/** How long one request takes when nothing else is asked. */
export interface FindingResult {
  request: string;
  p50Ms: number;
  p99Ms: number;
  /** The total that it is answered with, and whether there are more; absent where there is none. */
  found: string | undefined;
}

/** What integrators look for and follow: the day of the middle ticket, what many have, what few have, and what nobody has. */
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

/** Finding, and following changes from the beginning, from the middle and at the end. */
export async function measureFinding(
  server: Measured,
  { data, onProgress }: { data: Data; onProgress: (text: string) => void },
): Promise<FindingResult[]> {
  const results: FindingResult[] = [];
  const asked = [...requestsFor(data), ...(await changesRequests(server, data))];
  for (const [i, request] of asked.entries()) {
    onProgress(`finding and following: ${i + 1} of ${asked.length}`);
    const path = `/${request.replaceAll(' ', '%20')}`;
    const { meta } = await ask(server, data, path);
    const found =
      meta.totalCount === undefined ? undefined : `${meta.totalCount}${meta.totalCountCapped ? ' and more' : ''}`;
    const requests = requestsOf({ method: 'GET', paths: () => [path] }, data);
    const { p50Ms, p99Ms } = await shoot(server, { connections: 1, seconds: 3, requests });
    results.push({
      request: decodeURIComponent(request).replace(/cursor=.*/, 'cursor=…'),
      p50Ms,
      p99Ms,
      found,
    });
  }
  return results;
}

async function changesRequests(server: Measured, data: Data): Promise<string[]> {
  const middle = new Date(Date.UTC(2020, 0, 1) + (data.tickets / 2) * 15_000).toISOString();
  const { meta } = await ask(server, data, `/tickets/changes?since=${middle}`);
  const { meta: end } = await ask(server, data, `/tickets/changes?since=${new Date().toISOString()}`);
  const from = (cursor: unknown) => `tickets/changes?cursor=${cursor}`;
  return ['tickets/changes', `tickets/changes?since=${middle}`, from(meta.nextCursor), from(end.nextCursor)];
}

async function ask({ url }: Measured, data: Data, path: string) {
  const headers = { authorization: `Bearer ${data.keys[0]}` };
  const answer = await fetch(`${url}/api/public/v1${path}`, { headers });
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as { meta: Record<string, unknown> };
}
