import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Alerts } from '@itsm-api/alerts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { unique } from '../support/workspace.ts';
import { ago, fire, metricsOf, resolve, send, statuses, useAlerts } from './program.ts';

const test = useAlerts();
const { start, stop, settled, patch } = test;

interface Forwarded {
  method: string;
  /** The path and the query of the request, decoded. */
  path: string;
  body: string;
}

/**
 * Changes the response to a request. Returns undefined to forward the request to the server unchanged, and the status 0
 * to close the connection.
 */
type Intercept = (
  request: Forwarded,
) => { status: number; body: unknown; headers?: Record<string, string> } | ((text: string) => string) | undefined;

const closing: (() => Promise<void>)[] = [];
beforeEach(() => {
  // Reduces each pause to 5% of its length to keep the tests fast.
  vi.spyOn(Math, 'random').mockReturnValue(1.9);
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closing.splice(0)) await close();
});

/**
 * Starts a proxy in front of the server, and returns its URL.
 * @param lateMs the difference between the header `Date` of its responses and the current time
 */
async function startProxy(intercept: Intercept, lateMs = 0): Promise<string> {
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    const body = Buffer.concat(chunks).toString();
    const result = intercept({ method, path: decodeURIComponent(url), body });
    if (typeof result === 'object') {
      if (result.status === 0) return response.destroy();
      const isText = typeof result.body === 'string';
      response.writeHead(result.status, {
        'content-type': isText ? 'text/html' : 'application/json',
        ...result.headers,
      });
      return response.end(isText ? result.body : JSON.stringify(result.body));
    }
    const { connection, host, 'content-length': length, ...kept } = headers as Record<string, string>;
    const forwarded = await fetch(test.origin + url, { method, headers: kept, ...(body && { body }) });
    const text = await forwarded.text();
    const date = new Date(Date.now() + lateMs).toUTCString();
    response.writeHead(forwarded.status, { 'content-type': 'application/json', date });
    return response.end(result === undefined ? text : result(text));
  };
  const server = createServer((request, response) => void forward(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const failure = (status: number, code: string, more: object = {}) => ({
  status,
  body: { success: false, error: { code, message: 'Rejected by the test.', docs: '', requestId: 'test', ...more } },
});

/** Sends alerts in one webhook. */
const fireAll = async (alerts: Alerts, list: { id: string; labels?: object; description?: string }[]) => {
  const body = { alerts: list.map((each) => ({ status: 'firing', title: each.id, startsAt: ago(10), ...each })) };
  expect((await send(alerts, 'generic', body)).status).toBe(200);
};
const titles = (tickets: { title: string }[]) => tickets.map(({ title }) => title).sort();

describe('a request that can never succeed', () => {
  const ids = ['disk', 'fan', 'poison', 'power', 'rack'];
  const bulk = ({ path, body }: Forwarded) => path.endsWith('/tickets/bulk') && body.includes('poison');

  it.each([
    ['400 for the whole batch', failure(400, 'VALIDATION_ERROR')],
    ['413 without the envelope', { status: 413, body: '<h1>Request Entity Too Large</h1>' }],
    ['422', failure(422, 'NEW_CODE')],
    ['500', failure(500, 'INTERNAL_ERROR')],
  ])('costs only the alert that causes it: %s', async (_, response) => {
    const alerts = await start({ url: await startProxy((request) => (bulk(request) ? response : undefined)) });
    await fireAll(
      alerts,
      ids.map((id) => ({ id })),
    );
    expect(titles(await settled(alerts, 1))).toEqual(['disk', 'fan', 'power', 'rack']);
    await fire(alerts, { id: 'later' });
    expect(titles(await settled(alerts, 1))).toContain('Disk of later is full');
    expect(await metricsOf(alerts)).toMatch(/^itsm_alerts_rejections_total\{code="\w+"\} 1$/m);
  });

  it('costs only the alert whose ticket another program changes before each update', async () => {
    const conflict = failure(412, 'PRECONDITION_FAILED').body;
    const url = await startProxy(({ method }) => {
      if (method !== 'PATCH') return undefined;
      return (text) => {
        const { data, ...envelope } = JSON.parse(text);
        const fails = (result: { data: { title: string } }) => result.data.title === 'poison';
        const results = data.map((each: { data: { title: string } }) =>
          fails(each) ? { status: 412, error: conflict.error } : each,
        );
        return JSON.stringify({ ...envelope, data: results });
      };
    });
    const alerts = await start();
    await fireAll(alerts, [{ id: 'disk' }, { id: 'poison' }]);
    await settled(alerts);
    await stop(alerts);
    const again = await start({ url });
    const ended = ['disk', 'poison'].map((id) => ({ id, status: 'resolved', title: id, endsAt: ago(5) }));
    await send(again, 'generic', { alerts: ended });
    expect(statuses(await settled(again))).toEqual(['RESOLVED', 'RESOLVED']);
  });

  it.each([
    ['a 403', failure(403, 'INSUFFICIENT_SCOPE')],
    ['a page of a proxy', { status: 404, body: '<h1>Not Found</h1>' }],
  ])('costs only the warnings about custom fields: %s', async (_, response) => {
    const url = await startProxy(({ path }) => (path.includes('/custom-fields') ? response : undefined));
    const alerts = await start({ url, yaml: 'repeat: comment' });
    for (const commentCount of [0, 1]) {
      await fire(alerts, { startsAt: ago(10) });
      expect(await settled(alerts)).toMatchObject([{ commentCount }]);
    }
  });

  it('costs only the link of a ticket', async () => {
    const url = await startProxy(({ path }) => (path.endsWith('/links') ? failure(500, 'INTERNAL_ERROR') : undefined));
    const alerts = await start({ url, yaml: 'reopenWithinHours: 0' });
    await fire(alerts, { startsAt: ago(10) });
    await settled(alerts);
    await resolve(alerts, { startsAt: ago(10), endsAt: ago(5) });
    await settled(alerts);
    await fire(alerts, { startsAt: ago(1) });
    expect(statuses(await settled(alerts))).toEqual(['RESOLVED', 'OPEN']);
  });
});

describe('a request that can succeed later', () => {
  it.each([
    ['no response', { status: 0, body: '' }],
    ['401', failure(401, 'INVALID_API_KEY')],
    ['403', failure(403, 'INSUFFICIENT_SCOPE')],
    ['404 without the envelope', { status: 404, body: '<h1>Not Found</h1>' }],
    ['408', { status: 408, body: '' }],
    ['409', failure(409, 'IDEMPOTENCY_IN_PROGRESS')],
    ['429', failure(429, 'RATE_LIMIT_EXCEEDED')],
    ['500', failure(500, 'INTERNAL_ERROR')],
    ['503', failure(503, 'SERVICE_UNAVAILABLE')],
    ['a page of a proxy', { status: 200, body: '<h1>Sign in</h1>' }],
  ])('is repeated until it succeeds: %s', async (_, response) => {
    let failures = 0;
    const url = await startProxy(({ path }) => {
      if (!path.endsWith('/tickets/bulk') || failures === 2) return undefined;
      failures += 1;
      return response;
    });
    const alerts = await start({ url });
    await fireAll(alerts, [{ id: 'disk' }, { id: 'fan' }]);
    expect(titles(await settled(alerts))).toEqual(['disk', 'fan']);
    expect(await metricsOf(alerts)).not.toContain('itsm_alerts_rejections_total{');
  });

  it('pauses longer each time if the server names no time', async () => {
    vi.restoreAllMocks();
    let requests = 0;
    const url = await startProxy(() => {
      requests += 1;
      return failure(503, 'SERVICE_UNAVAILABLE');
    });
    const alerts = await start({ url });
    await fire(alerts);
    await new Promise((done) => setTimeout(done, 3_000));
    expect(requests).toBeGreaterThan(1);
    expect(requests).toBeLessThan(12);
    await stop(alerts);
  });
});

describe('requests', () => {
  it('have URLs and bodies within the limits of the service', async () => {
    const asset = await test.workspace.createAsset({ assetTag: `${'€'.repeat(90)}${unique()}`.slice(0, 100) });
    const alerts = await start({ yaml: 'asset: { label: host }' });
    const hosts = Array.from({ length: 30 }, (_, index) => `${'€'.repeat(97)}${index}`);
    const description = '"\\\n€'.repeat(10_000);
    await fireAll(alerts, [
      { id: 'known', labels: { host: asset.assetTag } },
      ...hosts.map((host) => ({ id: host.slice(90), labels: { host }, description })),
    ]);
    const tickets = await settled(alerts);
    expect(tickets).toHaveLength(31);
    expect(tickets.filter(({ assetIds }) => assetIds[0] === asset.id)).toMatchObject([{ title: 'known' }]);
  });
});

describe('the ticket of an alert', () => {
  it('is found by its external id if its tags are replaced', async () => {
    const alerts = await start({ yaml: 'reopenWithinHours: 0' });
    await fire(alerts, { startsAt: ago(30) });
    await settled(alerts);
    await resolve(alerts, { startsAt: ago(30), endsAt: ago(20) });
    await settled(alerts);
    await fire(alerts, { startsAt: ago(10) });
    const [first, second] = await settled(alerts);
    await patch(second?.id, { tags: ['network'] });
    await fire(alerts, { startsAt: ago(10) });
    expect(statuses(await settled(alerts))).toEqual(['RESOLVED', 'OPEN']);
    await resolve(alerts, { startsAt: ago(10), endsAt: ago(5) });
    expect(statuses(await settled(alerts))).toEqual(['RESOLVED', 'RESOLVED']);
    await patch(first?.id, { tags: [] });
    await fire(alerts, { startsAt: ago(3) });
    const tickets = await settled(alerts);
    expect(tickets.map(({ externalId }) => externalId?.slice(-2))).toEqual([':1', ':2', ':3']);
    expect(statuses(tickets)).toEqual(['RESOLVED', 'RESOLVED', 'OPEN']);
  });
});

describe('an alert that fires again with its old start', () => {
  const [startsAt, endsAt] = [ago(10), ago(5)];
  const group = { groupKey: '{}:{alertname="Disk"}', groupLabels: { alertname: 'Disk' } };
  const labels = { alertname: 'Disk' };
  const inGroup = (status: string) => ({
    ...{ ...group, status, alerts: [{ fingerprint: 'b5', status, labels, annotations: {}, startsAt, endsAt }] },
  });
  const generic = (status: string) => ({ alerts: [{ id: 'disk', status, title: 'Disk', startsAt, endsAt }] });

  it.each([
    ['generic', 'fingerprint', generic],
    ['alertmanager', 'fingerprint', inGroup],
    ['grafana', 'fingerprint', inGroup],
    ['alertmanager', 'groupKey', inGroup],
    ['grafana', 'groupKey', inGroup],
  ])('has an open ticket: %s with %s', async (form, identity, body) => {
    const alerts = await start({ yaml: `identity: ${identity}` });
    for (const expected of ['OPEN', 'RESOLVED', 'IN_PROGRESS', 'RESOLVED', 'IN_PROGRESS']) {
      await send(alerts, form, body(expected === 'RESOLVED' ? 'resolved' : 'firing'));
      expect(statuses(await settled(alerts))).toEqual([expected]);
    }
  });

  it.each([
    ['the time to reopen is over', 'reopenWithinHours: 0', undefined],
    ['a person closed the resolved ticket', '', { status: 'CLOSED' }],
  ])('gets another ticket if %s', async (_, yaml, change) => {
    const alerts = await start({ yaml });
    await fire(alerts, { startsAt });
    await settled(alerts);
    await resolve(alerts, { startsAt, endsAt });
    const [ticket] = await settled(alerts);
    if (change) await patch(ticket?.id, change);
    await fire(alerts, { startsAt });
    expect(statuses(await settled(alerts))).toEqual([change?.status ?? 'RESOLVED', 'OPEN']);
  });

  it('gets another ticket if the service does not allow to reopen the last one', async () => {
    const url = await startProxy(({ method, body }) =>
      method === 'PATCH' && body.includes('IN_PROGRESS')
        ? {
            status: 200,
            body: {
              success: true,
              data: [{ status: 400, error: { code: 'INVALID_TRANSITION', message: '', docs: '' } }],
            },
          }
        : undefined,
    );
    const alerts = await start({ url });
    await fire(alerts, { startsAt });
    await settled(alerts);
    await resolve(alerts, { startsAt, endsAt });
    await settled(alerts);
    await fire(alerts, { startsAt });
    expect(statuses(await settled(alerts))).toEqual(['RESOLVED', 'OPEN']);
  });

  it('reopens a ticket whose resolution a person extended, and keeps the text of the person', async () => {
    const alerts = await start();
    await fire(alerts, { startsAt });
    await settled(alerts);
    await resolve(alerts, { startsAt, endsAt });
    const [ticket] = await settled(alerts);
    await patch(ticket?.id, { resolution: `${ticket?.resolution}\n\nOld logs filled the disk.` });
    await fire(alerts, { startsAt });
    expect(await settled(alerts)).toMatchObject([{ status: 'IN_PROGRESS', resolution: 'Old logs filled the disk.' }]);
  });

  it('reopens its ticket if the clock of the server is wrong', async () => {
    const lateMs = 3_600_000;
    const late = (time: string) => new Date(Date.parse(time) + lateMs).toISOString();
    const change = (text: string) => text.replace(/(?<="resolvedAt":")[^"]+/g, late);
    const url = await startProxy(() => change, lateMs);
    const alerts = await start({ url });
    await fire(alerts, { startsAt });
    await settled(alerts);
    await resolve(alerts, { startsAt, endsAt });
    await settled(alerts);
    await fire(alerts, { startsAt });
    expect(statuses(await settled(alerts))).toEqual(['IN_PROGRESS']);
  });

  it('keeps its ticket resolved if another program has handled the whole alert', async () => {
    const offline = await start({ spool: 'second', url: 'http://127.0.0.1:9' });
    const alerts = await start();
    for (const program of [alerts, offline]) await fire(program, { startsAt });
    await settled(alerts);
    for (const program of [alerts, offline]) await resolve(program, { startsAt, endsAt });
    const tickets = await settled(alerts);
    await stop(offline);
    expect(await settled(await start({ spool: 'second' }))).toEqual(tickets);
  });
});
