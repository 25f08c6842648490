import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Asset,
  type Comment,
  type Delivery,
  type DeliveryDetail,
  deliveryBody,
  pathPrefix,
  type Ticket,
  type TicketActivity,
  type Webhook,
} from '@itsm-api/contract';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/counters-check.ts';
import { findPending } from '@itsm-api/server/webhooks/outbox/pending.ts';
import { describe, expect } from 'vitest';
import { type DemoWorkspace, seed } from '../../prisma/seed.ts';
import { startApi } from '../support/api.ts';
import { cloneDatabase } from '../support/database.ts';
import { api } from '../support/fixture.ts';
import { ticket } from '../support/workspace.ts';
import { commandLine, itWithCommands as it, itsm } from './itsm.ts';

let demo: DemoWorkspace | undefined;

it.beforeAll(async () => {
  demo = await seed(api);
});

const call = async (method: string, path: string, body?: unknown) =>
  (await api.call({ method, path: pathPrefix + path, key: demo?.key, body })).body;

describe('seed', () => {
  it('creates a demo workspace with an API key that can read all its data', async () => {
    expect(demo).toMatchObject({ tenant: 'Acme Corporation', adminEmail: expect.stringContaining('@') });
    const lists = await Promise.all(
      ['users', 'tickets', 'assets', 'projects'].map((path) => call('GET', `/${path}?perPage=100`)),
    );
    expect(lists.map(({ meta }) => meta.totalCount)).toEqual([4, 40, 12, 3]);
    const tasks = await Promise.all(
      lists[3].data.map(({ id }: { id: number }) => call('GET', `/projects/${id}/tasks`)),
    );
    expect(tasks.map(({ meta }) => meta.totalCount)).toEqual([5, 5, 5]);
  });

  it('creates demo tickets with timestamps and resolutions that match their status', async () => {
    const { data } = (await call('GET', '/tickets?perPage=100')) as { data: Ticket[] };
    const now = new Date().toISOString();
    for (const { title, status, createdAt, resolvedAt, closedAt, updatedAt, resolution } of data) {
      const isDone = status === 'RESOLVED' || status === 'CLOSED';
      expect([resolvedAt !== null, closedAt !== null, resolution !== null], title).toEqual([
        isDone,
        status === 'CLOSED',
        isDone,
      ]);
      const moments = [createdAt, resolvedAt, closedAt, updatedAt, now].filter((moment) => moment !== null);
      expect(moments, title).toEqual(moments.toSorted());
    }
    expect(data.map(({ createdAt }) => createdAt)).toEqual(
      data
        .map(({ createdAt }) => createdAt)
        .toSorted()
        .reverse(),
    );
    expect(data.filter(({ parentId }) => parentId !== null)).toHaveLength(6);
  });

  it('creates demo tickets with watchers, tags, assets and links', async () => {
    const { data } = (await call('GET', '/tickets?perPage=100')) as { data: Ticket[] };
    expect(data.filter(({ watcherUserIds }) => watcherUserIds.length > 0)).toHaveLength(10);
    expect(data.filter(({ tags }) => tags.length > 0)).toHaveLength(5);
    expect(((await call('GET', '/assets?tag=leased')) as { data: Asset[] }).data).toHaveLength(1);
    expect(data.filter(({ assetIds }) => assetIds.length > 0)).toHaveLength(6);
    const linked = data.filter(({ linkCount }) => linkCount > 0);
    expect(linked).toHaveLength(10);
    for (const { id, linkCount } of linked)
      expect((await call('GET', `/tickets/${id}/links`)).data).toHaveLength(linkCount);
  });

  it('creates activities that match the status of the demo tickets', async () => {
    const { data: tickets } = (await call('GET', '/tickets?perPage=100')) as { data: Ticket[] };
    // The feeds return rows after all transactions of the server that were running at that moment, also of other tests.
    const feed = async (path: string) => (await call('GET', path)).data as TicketActivity[];
    await expect.poll(() => feed('/tickets/activity?perPage=100')).toHaveLength(100);
    await expect.poll(() => feed('/assets/activity')).toHaveLength(12);
    const times = (await feed('/tickets/activity?perPage=100')).map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
    for (const { id, status, createdAt } of tickets) {
      const own = ((await call('GET', `/tickets/${id}/activity`)).data as TicketActivity[]).toReversed();
      expect(own[0]).toMatchObject({ action: 'CREATED', at: createdAt });
      const last = own.findLast(({ changes }) => changes.status !== undefined);
      expect(last?.changes.status?.to ?? 'OPEN').toBe(status);
    }
  });

  it('creates public and internal comments on demo tickets', async () => {
    const { data } = (await call('GET', '/tickets?perPage=100')) as { data: Ticket[] };
    const commented = data.filter(({ commentCount }) => commentCount > 0);
    expect(commented).toHaveLength(4);
    for (const { id, commentCount, createdAt, updatedAt } of commented) {
      const comments = (await call('GET', `/tickets/${id}/comments`)).data as Comment[];
      expect(comments).toHaveLength(commentCount);
      const activity = (await call('GET', `/tickets/${id}/activity`)).data as TicketActivity[];
      expect(activity.filter(({ action }) => action === 'COMMENTED')).toHaveLength(commentCount);
      for (const { body, redactedAt } of comments) expect(redactedAt !== null).toBe(body === '[redacted]');
      expect(new Set(comments.map(({ visibility }) => visibility))).toEqual(new Set(['PUBLIC', 'INTERNAL']));
      const moments = [createdAt, ...comments.map((each) => each.createdAt).reverse(), updatedAt];
      expect(moments).toEqual(moments.toSorted());
    }
    expect(commented.every(({ firstRespondedAt }) => firstRespondedAt !== null)).toBe(true);
    expect(await findWrongTotals(api.databases.options)).toEqual([]);
  });

  it('gives demo tickets dates in the business hours, some of which are past', async () => {
    const inBerlin = new Intl.DateTimeFormat('en-GB', {
      ...{ timeZone: 'Europe/Berlin', weekday: 'short', hour: '2-digit', minute: '2-digit' },
    });
    const tickets = (await call('GET', '/tickets?perPage=100')).data as Ticket[];
    for (const { title, createdAt, dueAt, firstResponseDueAt } of tickets) {
      for (const date of [dueAt, firstResponseDueAt]) {
        expect(inBerlin.format(new Date(String(date))), title).toMatch(/^(Mon|Tue|Wed|Thu|Fri)\W+(09|1[0-7]):/);
        expect(Date.parse(String(date))).toBeGreaterThan(Date.parse(createdAt));
      }
    }
    for (const filter of ['overdue', 'firstResponseOverdue']) {
      expect((await call('GET', `/tickets?${filter}=true`)).meta.totalCount, filter).toBeGreaterThan(0);
    }
    const { calendar } = (await call('GET', '/business-hours')).data;
    expect(calendar).toMatchObject({ timeZone: 'Europe/Berlin' });
  });

  it('creates a paused webhook with pending deliveries, to which the server sends nothing', async () => {
    const [webhook, ...others] = (await call('GET', '/webhooks')).data as Webhook[];
    expect(webhook).toMatchObject({ id: 1, health: 'PAUSED', pausedReason: 'Paused by its owner.' });
    expect(new URL(String(webhook?.url)).hostname).toMatch(/\.example$/);
    expect(others).toEqual([]);
    const times = [webhook?.createdAt, webhook?.lastFailureAt, webhook?.pausedAt, new Date().toISOString()];
    expect(times).toEqual(times.toSorted());

    const deliveries = (await call('GET', '/webhooks/1/deliveries')).data as Delivery[];
    expect(deliveries.map(({ id, state, attemptCount }) => [id, state, attemptCount])).toEqual([
      [2, 'PENDING', 0],
      [1, 'PENDING', 4],
    ]);
    const { attempts, body, event } = (await call('GET', '/deliveries/1')).data as DeliveryDetail;
    expect(attempts.map(({ number, status }) => [number, status])).toEqual([
      [1, 502],
      [2, 502],
      [3, 503],
      [4, 503],
    ]);
    expect(attempts.at(-1)?.startedAt).toBe(webhook?.lastFailureAt);
    const sent = deliveryBody('ticket.created').parse(JSON.parse(body));
    expect([sent.type, sent.ticket.ticketNumber, sent.ticket.status]).toEqual([event, 'PRB-3', 'OPEN']);
    expect(await findPending(api.prisma, [])).toEqual({ due: [], inactive: [] });
  });

  it('numbers the seeded tickets consecutively after the demo tickets', async () => {
    const incidents = await call('GET', '/tickets?type=INCIDENT');
    const { data } = await call('POST', '/tickets', { ...ticket, type: 'INCIDENT' });
    expect(data.ticketNumber).toBe(`INC-${incidents.meta.totalCount + 1}`);
  });

  it('creates no demo workspace in a database that has a tenant', async () => {
    expect(await seed(api)).toBeUndefined();
    expect(await api.prisma.tenant.count()).toBe(1);
    expect(await api.prisma.apiKey.count()).toBe(3);
  });
});

describe('itsm seed', () => {
  it('creates the demo workspace without its file if the store of attachments is unavailable', async () => {
    const itsm = commandLine(api.databaseUrl, { ATTACHMENTS_DIR: '/dev/null/attachments' });
    const { code, stdout, stderr } = await itsm('seed --name Hooli');
    expect(code, stderr).toBe(0);
    const answer = await api.call({ method: 'GET', path: `${pathPrefix}/tickets/INC-17`, key: stdout.trim() });
    expect(answer.body.data.attachmentCount).toBe(0);
  });

  it('creates one demo workspace beside other workspaces and prints a valid API key', async () => {
    const empty = await cloneDatabase();
    // The default folder of attachments belongs to the embedded PostgreSQL of a trial.
    const DATA_DIR = await mkdtemp(join(tmpdir(), 'itsm-seed-'));
    await mkdir(join(DATA_DIR, 'attachments'));
    await writeFile(join(DATA_DIR, 'attachments/installation-id'), randomUUID());
    const itsm = commandLine(empty.url, { DATA_DIR, ATTACHMENTS_DIR: '' });
    expect((await itsm('tenants create --name Mine --admin-email me@example.com')).code).toBe(0);
    const { code, stdout, stderr } = await itsm('seed');
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/^Attachments are stored in \S+\/attachments-[\da-f-]{36}, because \S+ doesn't belong/);
    expect(JSON.parse((await itsm('doctor --json')).stdout).findings).toContainEqual(
      expect.objectContaining({ check: 'attachments', level: 'note', message: expect.stringContaining(DATA_DIR) }),
    );
    expect(stderr).not.toContain(stdout.trim());
    const other = await startApi({ databaseUrl: empty.url });
    const { status, body } = await other.call({ method: 'GET', path: `${pathPrefix}/users`, key: stdout.trim() });
    expect([status, body.meta.totalCount]).toEqual([200, 4]);
    const again = await itsm('seed');
    const message = 'error: --name Acme Corporation is already used by another tenant or by an interrupted seed. ';
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
    await other.close();
    await empty.drop();
    await rm(DATA_DIR, { recursive: true });
  });

  it('creates a second workspace with the requested number of demo tickets', async () => {
    const { code, stdout, stderr } = await itsm('seed --tickets 3k --name Umbrella');
    expect(code, stderr).toBe(0);
    const key = stdout.trim();
    const list = async (query: string) =>
      (await api.call({ method: 'GET', path: `${pathPrefix}/tickets?perPage=100${query}`, key })).body;
    const { data, meta } = await list('');
    expect(meta.totalCount).toBe(3040);
    const older = await list('&page=2');
    const titles = [...data, ...older.data].map(({ createdAt }: Ticket) => createdAt);
    expect(titles).toEqual(titles.toSorted().reverse());
    const incidents = await list('&type=INCIDENT');
    const created = await api.call({
      ...{ method: 'POST', path: `${pathPrefix}/tickets`, key, body: { ...ticket, type: 'INCIDENT' } },
    });
    expect(created.body.data.ticketNumber).toBe(`INC-${incidents.meta.totalCount + 1}`);
    expect(await findWrongTotals(api.databases.options)).toEqual([]);
    expect(await itsm('seed --tickets 1 --name UMBRELLA')).toMatchObject({
      code: 1,
      stderr:
        'error: --name UMBRELLA is already used by another tenant or by an interrupted seed. Choose another name.\n',
    });
  });
});
