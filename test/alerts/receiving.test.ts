import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Alerts } from '@itsm-api/alerts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { skipUnless } from '../support/skip-unless.ts';
import { ago, fire, getJson, metricsOf, send, token, useAlerts } from './program.ts';

const test = useAlerts();
const { start, settled } = test;

const labels = { alertname: 'DiskFull', instance: 'db-1' };
const notification = { status: 'firing', labels, annotations: {}, startsAt: ago(10), fingerprint: 'b5' };
const group = (...alerts: unknown[]) => ({ status: 'firing', groupKey: '{}', groupLabels: {}, alerts });
const titles = (tickets: { title: string }[]) => tickets.map(({ title }) => title).sort();

describe('an alert of a webhook', () => {
  it('can have null instead of absent fields', async () => {
    const alerts = await start();
    const nothing = { annotations: null, endsAt: null, generatorURL: null, panelURL: null, valueString: null };
    const given = { ...notification, ...nothing, labels: { ...labels, zone: null } };
    const nulls = { groupLabels: null, commonLabels: null, commonAnnotations: null, externalURL: null };
    expect(await send(alerts, 'grafana', { ...group(given), ...nulls })).toMatchObject({ status: 200 });
    const generic = {
      id: 'fan',
      status: 'firing',
      title: 'Fan',
      description: null,
      url: null,
      labels: null,
      endsAt: null,
    };
    expect(await send(alerts, 'generic', { alerts: [generic] })).toMatchObject({ status: 200 });
    expect(titles(await settled(alerts))).toEqual(['DiskFull on db-1', 'Fan']);
  });

  it('can lack a fingerprint: its sorted labels then identify it, in every release', async () => {
    const alerts = await start();
    const { fingerprint, ...given } = notification;
    const sorted = Object.fromEntries(Object.entries(labels).toReversed());
    for (const more of [{}, { fingerprint: null, labels: sorted }, { fingerprint: '' }]) {
      await send(alerts, 'alertmanager', group({ ...given, ...more }));
      expect(await settled(alerts)).toMatchObject([{ externalId: 'alert:f3871b1ecc2dc532:1' }]);
    }
  });

  it('can have labels that are numbers or booleans', async () => {
    const alerts = await start({ yaml: 'tags: { labels: [port, up] }' });
    await send(alerts, 'alertmanager', group({ ...notification, labels: { ...labels, port: 5432, up: false } }));
    const [ticket] = await settled(alerts);
    expect(ticket?.tags).toEqual([expect.stringMatching(/^alert:/), 'port:5432', 'up:false']);
  });

  it('costs only itself if it is unreadable', async () => {
    const alerts = await start();
    const bad = [null, 'text', { ...notification, status: 'broken' }, { ...notification, startsAt: 'now' }];
    const odd = { ...notification, labels: { a: {} } };
    const response = await send(alerts, 'alertmanager', group(...bad, notification, odd));
    expect(response).toMatchObject({ status: 200, body: { received: 1, skipped: 5 } });
    for (const index of [0, 1, 2, 3]) expect(response.body.faults.join()).toContain(`alerts[${index}]`);
    expect(response.body.faults).toContain('alerts[5].labels.a: must be a text');
    expect(await settled(alerts)).toHaveLength(1);
    expect(await metricsOf(alerts)).toContain('itsm_alerts_unreadable_total{form="alertmanager"} 5');

    const generic = {
      alerts: [
        { id: 1, status: 'firing', title: 'Fan' },
        { id: 'x', status: 'firing' },
      ],
    };
    expect(await send(alerts, 'generic', generic)).toMatchObject({ status: 200, body: { received: 1, skipped: 1 } });
    expect(titles(await settled(alerts))).toEqual(['DiskFull on db-1', 'Fan']);
    const grouped = await start({ yaml: 'identity: groupKey', spool: 'other' });
    expect(await send(grouped, 'grafana', group(null, notification))).toMatchObject({
      status: 200,
      body: { skipped: 1 },
    });
    expect(await send(grouped, 'grafana', group(null))).toMatchObject({ status: 400 });
  });

  it('can have values that it does not need in another form', async () => {
    const alerts = await start();
    const annotations = { summary: 'The disk is full', owners: ['it'] };
    const given = { ...notification, endsAt: '', annotations };
    expect(await send(alerts, 'alertmanager', group(given))).toMatchObject({ status: 200, body: { received: 1 } });
    const generic = { id: 'fan', status: 'firing', title: 'Fan', endsAt: '' };
    expect(await send(alerts, 'generic', { alerts: [generic] })).toMatchObject({ status: 200, body: { received: 1 } });
    expect(titles(await settled(alerts))).toEqual(['Fan', 'The disk is full']);
    const ended = { ...given, status: 'resolved' };
    expect(await send(alerts, 'alertmanager', group(ended))).toMatchObject({ status: 400 });
  });

  it('can have a label with the name of a property of objects', async () => {
    const alerts = await start();
    const body = JSON.stringify(group(notification)).replace(
      '"alertname"',
      '"__proto__":{},"constructor":"x","alertname"',
    );
    expect(await send(alerts, 'alertmanager', JSON.parse(body))).toMatchObject({ status: 200 });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const { status } = await fetch(`${alerts.url}/alertmanager`, { method: 'POST', headers, body });
    expect(status).toBe(200);
    expect(await settled(alerts)).toHaveLength(1);
  });

  it.each([
    ['DatasourceNoData', 'No data: Checkout latency on eu-1'],
    ['DatasourceError', 'Error: Checkout latency on eu-1'],
  ])('has a title with the name of the rule: %s', async (alertname, title) => {
    const alerts = await start();
    const given = { alertname, rulename: 'Checkout latency', instance: 'eu-1', ref_id: 'A' };
    const annotations = { summary: 'Paris is slow', description: 'The latency is [no value].' };
    await send(alerts, 'grafana', group({ ...notification, labels: given, annotations }));
    const description = expect.stringMatching(/^Paris is slow\n\nThe latency is/);
    expect(await settled(alerts)).toMatchObject([{ title, description }]);
  });
});

describe('a webhook', () => {
  it('has at most 10,000 alerts', async () => {
    const alerts = await start();
    const many = (count: number, alert: unknown) => Array.from({ length: count }, () => alert);
    const tooMany = await send(alerts, 'generic', { alerts: many(10_001, {}) });
    expect(tooMany).toMatchObject({ status: 413, body: { error: expect.stringContaining('10000') } });
    const startedAt = performance.now();
    const allRead = await send(alerts, 'generic', {
      alerts: many(10_000, { id: 'disk', status: 'resolved', title: 'Disk' }),
    });
    expect(allRead).toMatchObject({ status: 200, body: { received: 10_000 } });
    const readAt = performance.now();
    const faulty = await send(alerts, 'alertmanager', { alerts: many(200_000, {}) });
    expect(faulty.status).toBe(413);
    const listed = await send(alerts, 'alertmanager', group(...many(10_000, { ['x'.repeat(100)]: 1, labels: [] })));
    expect(listed).toMatchObject({ status: 400 });
    expect(listed.body.error.length).toBeLessThan(5000);
    expect(listed.body.error.split('alerts[').length - 1).toBe(20);
    // A ratio, because both take longer on a busy machine.
    expect((performance.now() - readAt) / (readAt - startedAt)).toBeLessThan(10);
  });

  it('must arrive within 10 seconds', async () => {
    const { url } = await start();
    const { hostname, port } = new URL(url);
    const startOf = [
      'POST /generic HTTP/1.1\r\nHost: x\r\n',
      `POST /generic HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    ];
    const startedAt = performance.now();
    await Promise.all(
      startOf.map(async (text) => {
        const socket = connect(Number(port), hostname);
        socket
          .on('error', () => undefined)
          .resume()
          .write(text);
        await once(socket, 'close');
      }),
    );
    // The program checks the limit at intervals.
    expect(performance.now() - startedAt).toBeLessThan(60_000);
  });

  it.each([`bearer ${token}`, `BEARER ${token}`, `basic ${Buffer.from(`grafana:${token}`).toString('base64')}`])(
    'accepts a scheme in any case: %s',
    async (authorization) => {
      const alerts = await start();
      const body = { alerts: [{ id: 'disk', status: 'resolved', title: 'Disk' }] };
      expect((await send(alerts, 'generic', body, authorization)).status).toBe(200);
    },
  );
});

describe('a label for a custom field', () => {
  const yaml = `customFields:
  site: { label: site }
  size: { label: size }
  prod: { label: prod }
  seen: { label: seen }
  zones: { label: zones }
  level: { label: level, default: low }
  owner: { label: owner }
  notes: { label: notes }
`;
  beforeEach(async () => {
    const options = (...values: string[]) => values.map((value) => ({ value, label: value }));
    const { createField } = test.workspace;
    await createField({ key: 'site', type: 'SELECT', options: options('berlin', 'bonn') });
    await createField({ key: 'size', type: 'NUMBER' });
    await createField({ key: 'prod', type: 'BOOLEAN' });
    await createField({ key: 'seen', type: 'DATE' });
    await createField({ key: 'zones', type: 'MULTI_SELECT', options: options('a', 'b') });
    await createField({ key: 'level', type: 'SELECT', options: options('low', 'high') });
  });

  it('becomes a value of the type of the field', async () => {
    const alerts = await start({ yaml });
    const given = {
      site: 'bonn',
      size: '12.5',
      prod: 'True',
      seen: '2026-11-20T10:00:00Z',
      zones: 'a, b',
      level: 'high',
    };
    await fire(alerts, { labels: given });
    expect(await settled(alerts)).toMatchObject([
      { customFields: { site: 'bonn', size: 12.5, prod: true, seen: '2026-11-20', zones: ['a', 'b'], level: 'high' } },
    ]);
  });

  it('costs only the field if it does not fit', async () => {
    const alerts = await start({ yaml });
    const notes = 'x'.repeat(17_000);
    const wrong = { site: 'hamburg', size: 'big', prod: 'maybe', seen: 'today', zones: 'a,z', level: 'new' };
    await fire(alerts, { labels: { ...wrong, owner: 'it\u0000', notes } });
    const [ticket] = await settled(alerts);
    expect(ticket?.customFields).toEqual({ level: 'low', owner: 'it' });
  });

  it('costs only the alert if the field is required', async () => {
    await test.workspace.createField({ key: 'cost', type: 'NUMBER', required: true });
    const alerts = await start({ yaml: `${yaml}  cost: { label: cost }` });
    await fire(alerts, { labels: { cost: 'high' } });
    await fire(alerts, { id: 'fan', labels: { cost: '7' } });
    expect(await settled(alerts, 1)).toMatchObject([{ title: 'Disk of fan is full', customFields: { cost: 7 } }]);
  });
});

/** Whether the tests may mount a file system, which needs the rights of root on Linux. */
const canMount = process.platform === 'linux' && process.getuid?.() === 0;

describe('a full disk', skipUnless(canMount, 'Only root on Linux can mount a small file system.'), () => {
  const filler = () => join(test.folder, 'disk', 'filler');
  const disk = () => join(test.folder, 'disk');
  const free = () => {
    const { bavail, bsize } = statfsSync(disk());
    return bavail * bsize;
  };
  /** Fills the disk with a file, as another program does. */
  const fill = () => {
    for (let index = 0; free() > 0; index++) {
      try {
        writeFileSync(`${filler()}${index}`, Buffer.alloc(Math.min(free(), 65_536)));
      } catch {
        return;
      }
    }
  };
  const empty = () => execFileSync('sh', ['-c', `rm ${filler()}*`]);
  const put = (alerts: Alerts) =>
    send(alerts, 'generic', { alerts: [{ id: 'new', status: 'firing', title: 'New', startsAt: ago(1) }] });

  beforeEach(() => {
    mkdirSync(disk());
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk()]);
  });
  afterEach(() => execFileSync('umount', ['-l', disk()]));

  it.each([
    ['with its reserve', () => undefined],
    ['after another program has used the space of the reserve', () => rmSync(join(disk(), 'spool', 'reserve'))],
  ])('delivers waiting alerts once, rejects new ones, and recovers without a restart, %s', async (_, change) => {
    const offline = await start({ url: 'http://127.0.0.1:9', spool: 'disk/spool' });
    const description = 'x'.repeat(1000);
    const ids = Array.from({ length: 300 }, (_, index) => `disk-${index}`);
    const body = { alerts: ids.map((id) => ({ id, status: 'firing', title: id, description, startsAt: ago(5) })) };
    expect(await send(offline, 'generic', body)).toMatchObject({ status: 200 });
    expect(await getJson(offline, 'readyz')).toMatchObject({ status: 200 });
    fill();
    // The check returns the space of the log to the disk.
    await getJson(offline, 'readyz');
    fill();
    expect(await put(offline)).toMatchObject({ status: 503, body: { error: expect.stringContaining('disk') } });
    const reason = expect.stringContaining('free space');
    expect(await getJson(offline, 'readyz')).toMatchObject({ status: 503, body: { reason } });
    expect(await getJson(offline, 'healthz')).toMatchObject({ status: 200, body: { status: 'ok', waiting: 300 } });
    await test.stop(offline);
    change();
    fill();

    const alerts = await start({ spool: 'disk/spool' });
    expect(await settled(alerts)).toHaveLength(100);
    const { body: list } = await test.workspace.call('GET', '/tickets?perPage=1');
    expect(list.meta.totalCount).toBe(300);
    expect(await metricsOf(alerts)).toContain('itsm_alerts_changes_total{change="create"} 300');
    expect(await put(alerts)).toMatchObject({ status: 503 });
    expect(await getJson(alerts, 'readyz')).toMatchObject({ status: 503 });
    empty();
    expect(await getJson(alerts, 'readyz')).toMatchObject({ status: 200 });
    expect(await put(alerts)).toMatchObject({ status: 200 });
    await settled(alerts);
    await test.stop(alerts);
    const restarted = await start({ url: 'http://127.0.0.1:9', spool: 'disk/spool' });
    expect(await getJson(restarted, 'healthz')).toMatchObject({ body: { waiting: 0 } });
  });

  it('that the alerts fill is usable again when the service has them', async () => {
    const offline = await start({ url: 'http://127.0.0.1:9', spool: 'disk/spool' });
    const description = 'x'.repeat(20_000);
    let count = 0;
    const next = () =>
      send(offline, 'generic', { alerts: [{ id: `${count++}`, status: 'firing', title: 'Disk', description }] });
    while ((await next()).status === 200) expect(count).toBeLessThan(1000);
    expect(free()).toBeGreaterThan(65_536);
    await test.stop(offline);
    const alerts = await start({ spool: 'disk/spool' });
    expect((await settled(alerts)).length).toBe(Math.min(100, count - 1));
    expect(await getJson(alerts, 'readyz')).toMatchObject({ status: 200 });
    expect(await put(alerts)).toMatchObject({ status: 200 });
    await settled(alerts);
  });
});
