import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Alerts } from '@itsm-api/alerts';
import { describe, expect, it } from 'vitest';
import { unique } from '../support/workspace.ts';
import { ago, fire, metricsOf, resolve, send, statuses, token, useAlerts } from './program.ts';

const test = useAlerts();
const { start, stop, settled, patch } = test;

describe('an alert', () => {
  it('creates a ticket when it fires, and resolves the ticket when it ends', async () => {
    const alerts = await start();
    await fire(alerts, { labels: { instance: 'db-1' }, startsAt: ago(10) });
    const [created] = await settled(alerts);
    expect(created).toMatchObject({
      title: 'Disk of disk is full',
      description: expect.stringContaining('instance: db-1'),
      status: 'OPEN',
      externalId: expect.stringMatching(/^alert:[\da-f]{16}:1$/),
      tags: [created?.externalId?.slice(0, -2)],
    });
    await resolve(alerts, { startsAt: ago(10), endsAt: '2026-11-28T03:20:00Z' });
    const [resolved] = await settled(alerts);
    expect(resolved).toMatchObject({
      id: created?.id,
      status: 'RESOLVED',
      resolution: expect.stringContaining('2026-11-28T03:20:00.000Z'),
    });
  });

  it('has one ticket while it fires repeatedly', async () => {
    const alerts = await start();
    for (let count = 0; count < 3; count++) {
      await fire(alerts, { startsAt: ago(10) });
      expect(await settled(alerts)).toHaveLength(1);
    }
  });

  it('reopens the ticket that the program resolved when it fires again', async () => {
    const alerts = await start();
    await fire(alerts, { startsAt: ago(10) });
    await settled(alerts);
    await resolve(alerts, { endsAt: ago(5) });
    await settled(alerts);
    await fire(alerts, { startsAt: ago(3) });
    expect(await settled(alerts)).toMatchObject([{ status: 'IN_PROGRESS', resolution: null }]);
    await resolve(alerts, { endsAt: ago(1) });
    expect(await settled(alerts)).toMatchObject([{ status: 'RESOLVED' }]);
  });

  it('creates a linked ticket if the time to reopen the last one is over', async () => {
    const alerts = await start({ yaml: 'reopenWithinHours: 0' });
    for (const minutes of [9, 6, 3]) {
      await fire(alerts, { startsAt: ago(minutes) });
      await settled(alerts);
      await resolve(alerts, { endsAt: ago(minutes - 1) });
      await settled(alerts);
    }
    const tickets = await settled(alerts);
    expect(tickets.map(({ externalId }) => externalId?.slice(-2))).toEqual([':1', ':2', ':3']);
    expect(new Set(tickets.flatMap(({ tags }) => tags)).size).toBe(1);
    expect(statuses(tickets)).toEqual(['RESOLVED', 'RESOLVED', 'RESOLVED']);
    for (const [index, { id }] of tickets.slice(1).entries()) {
      const { body } = await test.workspace.call('GET', `/tickets/${id}/links`);
      expect(body.data).toContainEqual(expect.objectContaining({ type: 'RELATES_TO', ticketId: tickets[index]?.id }));
    }
  });

  it.each(['RESOLVED', 'CLOSED', 'CANCELLED'])('leaves a ticket alone that a person set to %s', async (status) => {
    const alerts = await start();
    await fire(alerts, { startsAt: ago(10) });
    const [ticket] = await settled(alerts);
    if (status === 'CLOSED') await patch(ticket?.id, { status: 'RESOLVED' });
    await patch(ticket?.id, { status });
    const [ended] = await settled(alerts);
    for (const startsAt of [ago(10), ended?.resolvedAt ?? ago(10)]) {
      await fire(alerts, { startsAt });
      expect(await settled(alerts)).toEqual([ended]);
    }
    await resolve(alerts);
    expect(await settled(alerts)).toEqual([ended]);
    await fire(alerts, { startsAt: ago(0) });
    const [first, second, ...others] = await settled(alerts);
    expect(first).toEqual({ ...ended, linkCount: 1, updatedAt: first?.updatedAt, etag: first?.etag });
    expect(second).toMatchObject({ status: 'OPEN', linkCount: 1, externalId: ended?.externalId?.replace(/1$/, '2') });
    expect(others).toEqual([]);
  });

  it('creates a ticket if it starts after a person cancelled the last one, which was edited later', async () => {
    const alerts = await start();
    await fire(alerts, { startsAt: ago(10) });
    const [ticket] = await settled(alerts);
    const before = ago(0);
    await patch(ticket?.id, { status: 'CANCELLED' });
    const after = ago(0);
    await patch(ticket?.id, { priority: 'LOW' });
    await fire(alerts, { startsAt: before });
    expect(statuses(await settled(alerts))).toEqual(['CANCELLED']);
    await fire(alerts, { startsAt: after });
    expect(statuses(await settled(alerts))).toEqual(['CANCELLED', 'OPEN']);
  });

  it('leaves a ticket alone that a person resolved again with the old resolution', async () => {
    const alerts = await start();
    await fire(alerts, { startsAt: ago(30) });
    await settled(alerts);
    await resolve(alerts, { endsAt: ago(20) });
    const [resolved] = await settled(alerts);
    // As if the program had resolved the ticket 10 minutes before.
    await patch(resolved?.id, { resolution: resolved?.resolution?.replace(/at \S+\.$/, `at ${ago(10)}.`) });
    await fire(alerts, { startsAt: ago(0) });
    expect(statuses(await settled(alerts))).toEqual(['RESOLVED', 'OPEN']);
  });

  it('creates no ticket if only its end is known', async () => {
    const alerts = await start();
    await resolve(alerts);
    expect(await settled(alerts)).toEqual([]);
  });

  it('uses the existing ticket if its tag is gone', async () => {
    const alerts = await start();
    await fire(alerts, { startsAt: ago(10) });
    const [ticket] = await settled(alerts);
    await patch(ticket?.id, { tags: [] });
    await fire(alerts, { startsAt: ago(10) });
    expect(await settled(alerts)).toHaveLength(1);
  });

  it('adds at most one comment per hour to its ticket with `repeat: comment`', async () => {
    const alerts = await start({ yaml: 'repeat: comment' });
    const counts: number[] = [];
    for (let count = 0; count < 3; count++) {
      await fire(alerts, { startsAt: ago(10) });
      counts.push(...(await settled(alerts)).map(({ commentCount }) => commentCount));
    }
    // The hour can end during the test.
    expect(counts.slice(0, 2)).toEqual([0, 1]);
    expect(counts[2]).toBeLessThan(3);
  });
});

describe('many alerts', () => {
  const ids = Array.from({ length: 130 }, (_, index) => `disk-${index}`);
  const all = (status: string, times: object) => ({ alerts: ids.map((id) => ({ id, status, title: id, ...times })) });

  it('change the newest of several tickets, also if the tickets need several pages', async () => {
    const alerts = await start({ yaml: 'reopenWithinHours: 0' });
    // This alert has more tickets than a page of the list.
    for (let count = 0; count < 2; count++) {
      await send(alerts, 'generic', all('firing', { startsAt: ago(20 - count * 10) }));
      await settled(alerts);
      await send(alerts, 'generic', all('resolved', { endsAt: ago(15 - count * 10) }));
      await settled(alerts);
    }
    const { body } = await test.workspace.call('GET', '/tickets?status=RESOLVED&perPage=1');
    expect(body.meta.totalCount).toBe(2 * ids.length);
    const metrics = await metricsOf(alerts);
    expect(metrics).toContain(`itsm_alerts_changes_total{change="create"} ${2 * ids.length}`);
    expect(metrics).toContain(`itsm_alerts_received_total{form="generic",status="firing"} ${2 * ids.length}`);
    expect(metrics).toContain('itsm_alerts_waiting 0');
  });
});

describe('two programs', () => {
  it('create one ticket per alert', async () => {
    const both = [await start({ spool: 'first' }), await start({ spool: 'second' })];
    const body = (status: string) => ({
      alerts: Array.from({ length: 50 }, (_, index) => ({
        id: `disk-${index}`,
        status,
        title: 'Disk',
        startsAt: ago(5),
      })),
    });
    for (const [status, expected] of [
      ['firing', 'OPEN'],
      ['resolved', 'RESOLVED'],
    ] as const) {
      await Promise.all(both.map((alerts) => send(alerts, 'generic', body(status))));
      for (const alerts of both) await settled(alerts);
      expect(statuses(await settled(both[0] as Alerts))).toEqual(Array(50).fill(expected));
    }
  });
});

describe('the spool', () => {
  /** A port on which no server listens. */
  const unreachable = 'http://127.0.0.1:9';

  it('keeps alerts while the service is unavailable, and combines the notifications about each alert', async () => {
    const offline = await start({ url: unreachable });
    await fire(offline, { startsAt: ago(10) });
    await fire(offline, { id: 'fan', startsAt: ago(10) });
    await resolve(offline, { endsAt: ago(5) });
    await resolve(offline, { id: 'unknown' });
    expect(await (await fetch(`${offline.url}/healthz`)).json()).toMatchObject({ status: 'ok', waiting: 3 });
    await stop(offline);
    const alerts = await start();
    const tickets = await settled(alerts);
    expect(tickets.map(({ title, status }) => `${title} ${status}`).sort()).toEqual([
      'Disk of disk is full RESOLVED',
      'Disk of fan is full OPEN',
    ]);
  });

  it('keeps the last notification about each alert, and ignores an end before its start', async () => {
    const offline = await start({ url: unreachable });
    await resolve(offline, { endsAt: ago(5) });
    await fire(offline, { startsAt: ago(10) });
    await fire(offline, { id: 'fan', startsAt: ago(3) });
    await resolve(offline, { id: 'fan', endsAt: ago(8) });
    await stop(offline);
    const tickets = await settled(await start());
    expect(tickets.map(({ title, status }) => `${title} ${status}`).sort()).toEqual([
      'Disk of disk is full OPEN',
      'Disk of fan is full OPEN',
    ]);
  });

  it('belongs to one program', async () => {
    await start();
    await expect(start()).rejects.toThrow('locked');
  });
});

describe('the labels of an alert', () => {
  const yaml = `
priority: { label: severity, values: { critical: CRITICAL, warning: HIGH }, default: LOW }
category: { label: area }
team: { label: team, values: { databases: %TEAM% } }
assignee: { label: owner }
asset: { label: host }
tags: { fixed: [monitoring], labels: [severity, site] }
customFields: { site: { label: site, default: unknown } }
`;

  it('set the fields of its ticket', async () => {
    const { id: teamId } = await test.workspace.createTeam();
    const { id: assigneeId, email } = await test.workspace.createUser();
    const asset = await test.workspace.createAsset({ assetTag: unique() });
    const alerts = await start({ yaml: yaml.replace('%TEAM%', String(teamId)) });
    await fire(alerts, {
      labels: {
        severity: 'critical',
        area: 'NETWORK',
        team: 'databases',
        owner: email,
        host: asset.assetTag,
        site: 'São Paulo 1',
      },
    });
    const [ticket] = await settled(alerts);
    expect(ticket).toMatchObject({
      priority: 'CRITICAL',
      category: 'NETWORK',
      teamId,
      assigneeId,
      assetIds: [asset.id],
      customFields: { site: 'São Paulo 1' },
    });
    expect(ticket?.tags).toEqual([
      expect.stringMatching(/^alert:/),
      'monitoring',
      'severity:critical',
      'site:são-paulo-1',
    ]);
  });

  it('set the default if their value is unknown', async () => {
    const alerts = await start({ yaml: yaml.replace('%TEAM%', '1') });
    await fire(alerts, { labels: { severity: 'info', area: 'Keller' } });
    expect(await settled(alerts)).toMatchObject([
      { priority: 'LOW', category: 'OTHER', assigneeId: null, assetIds: [], customFields: { site: 'unknown' } },
    ]);
  });

  it('become valid tags', async () => {
    const alerts = await start({ yaml: yaml.replace('%TEAM%', '1') });
    await fire(alerts, { labels: { severity: '', site: `${'𝒳'.repeat(22)}İ𝒳` } });
    expect((await settled(alerts))[0]?.tags).toHaveLength(3);
  });

  it('set no team and assignee if one of them does not exist', async () => {
    const alerts = await start({ yaml: yaml.replace('%TEAM%', '999999') });
    await fire(alerts, { labels: { team: 'databases', owner: 'unknown@example.com', host: 'unknown' } });
    expect(await settled(alerts)).toMatchObject([{ teamId: null, assigneeId: null, assetIds: [] }]);
  });
});

describe('a webhook', () => {
  /** Reads a payload. Those of Grafana are recordings from 2025 and 2026, with other names and texts. */
  const fixture = async (name: string) => JSON.parse(await readFile(new URL(`${name}.json`, import.meta.url), 'utf8'));

  it('of Grafana creates and resolves a ticket with its links', async () => {
    const alerts = await start();
    const firing = await fixture('grafana-firing');
    expect(await send(alerts, 'grafana', firing)).toMatchObject({ status: 200, body: { received: 2 } });
    const tickets = await settled(alerts);
    expect(tickets.map(({ title }) => title)).toEqual(['Paris is slow', 'Checkout latency on eu-2']);
    expect(tickets[0]?.description).toBe(
      [
        'The p99 latency is above 2 s for 5 minutes.',
        "[ var='B' labels={zone=eu-1} value=2.41 ], [ var='C' labels={zone=eu-1} value=1 ]",
        'alertname: Checkout latency\ngrafana_folder: Shop\ninstance: eu-1\nzone: eu-1\nstarted at: 2026-11-27T21:14:20.000Z',
        [
          'runbook: https://wiki.example.com/checkout',
          'source: https://grafana.example.com/alerting/grafana/ce2k7p/view?orgId=1',
          'dashboard: https://grafana.example.com/d/shop?orgId=1',
          'panel: https://grafana.example.com/d/shop?orgId=1&viewPanel=4',
          'silence: https://grafana.example.com/alerting/silence/new?alertmanager=grafana&matcher=__alert_rule_uid__%3Dce2k7p&matcher=zone%3Deu-1&orgId=1',
        ].join('\n'),
      ].join('\n\n'),
    );
    await send(alerts, 'grafana', await fixture('grafana-resolved'));
    const [first, second] = await settled(alerts);
    expect(first).toMatchObject({
      status: 'RESOLVED',
      resolution: expect.stringContaining('2026-11-27T21:40:10.010Z'),
    });
    expect(second).toMatchObject({ status: 'OPEN' });
  });

  it('of the button "Test" in Grafana 13.0.1 creates a ticket without empty links', async () => {
    const alerts = await start();
    expect((await send(alerts, 'grafana', await fixture('grafana-test'))).status).toBe(200);
    const silence = 'http://localhost:3000/alerting/silence/new?alertmanager=grafana&matcher=alertname%3DTestAlert';
    expect(await settled(alerts)).toMatchObject([
      {
        title: 'Notification test',
        description: [
          "[ metric='foo' labels={instance=bar} value=10 ]",
          'alertname: TestAlert\ninstance: Grafana\nstarted at: 2026-06-26T12:53:00.578Z',
          `silence: ${silence}&matcher=instance%3DGrafana`,
        ].join('\n\n'),
      },
    ]);
  });

  it('creates one ticket per group with `identity: groupKey`', async () => {
    const alerts = await start({ yaml: 'identity: groupKey' });
    const firing = await fixture('grafana-firing');
    await send(alerts, 'grafana', firing);
    const [ticket, ...others] = await settled(alerts);
    expect(others).toEqual([]);
    expect(ticket).toMatchObject({
      title: 'Checkout latency',
      description: expect.stringContaining('firing: Paris is slow\nfiring: Checkout latency on eu-2'),
      externalId: expect.stringMatching(/^alert:[\da-f]{16}:1$/),
    });
    const [ended, open] = firing.alerts;
    const isEnded = { ...ended, status: 'resolved', endsAt: '2026-11-27T22:00:00Z' };
    await send(alerts, 'grafana', { ...firing, alerts: [isEnded, open] });
    expect(statuses(await settled(alerts))).toEqual(['OPEN']);
    const isAlsoEnded = { ...open, status: 'resolved', endsAt: '2026-11-27T22:30:00Z' };
    await send(alerts, 'grafana', { ...firing, status: 'resolved', alerts: [isAlsoEnded, isEnded] });
    const resolution = expect.stringContaining('2026-11-27T22:30:00.000Z');
    expect(await settled(alerts)).toMatchObject([{ status: 'RESOLVED', resolution }]);
  });

  it('can contain texts that the API rejects or shortens', async () => {
    const alerts = await start();
    const title = `\u0000 ${'long '.repeat(100)}`;
    const alert = { id: 'x', status: 'firing', title, description: '\u0007€'.repeat(100_000) };
    expect(await send(alerts, 'generic', { alerts: [alert] })).toMatchObject({ status: 200 });
    const [ticket] = await settled(alerts);
    expect(ticket).toMatchObject({ title: expect.stringMatching(/^long long/), status: 'OPEN' });
  });

  it('is rejected with all errors if its form is invalid', async () => {
    const alerts = await start();
    const invalid = { alerts: [{ id: '', status: 'broken', title: 'Disk' }] };
    const { status, body } = await send(alerts, 'generic', invalid);
    expect(status).toBe(400);
    for (const path of ['alerts[0].id', 'alerts[0].status']) expect(body.error).toContain(path);
    expect((await send(alerts, 'alertmanager', { alerts: [] })).status).toBe(400);
    expect((await send(alerts, 'unknown', {})).status).toBe(404);
  });

  it.each([
    ['the token', `Bearer ${token}`, 200],
    ['the password', `Basic ${Buffer.from(`grafana:${token}`).toString('base64')}`, 200],
    ['another token', 'Bearer another', 401],
    ['another password', `Basic ${Buffer.from('grafana:another').toString('base64')}`, 401],
    ['no header', '', 401],
  ])('needs authentication: %s', async (_, authorization, expected) => {
    const alerts = await start();
    const body = { alerts: [{ id: 'disk', status: 'resolved', title: 'Disk' }] };
    const { status, headers } = await send(alerts, 'generic', body, authorization);
    expect(status).toBe(expected);
    expect(headers.has('www-authenticate')).toBe(expected === 401);
  });
});

describe('the program', () => {
  const bin = join(import.meta.dirname, '../../alerts/bin/itsm-alerts.ts');

  async function run(yaml: string, env: Record<string, string>, ...args: string[]) {
    const file = join(test.folder, 'alerts.yaml');
    await writeFile(file, yaml);
    const child = spawn(process.execPath, [bin, '--config', file, ...args], { env });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    return { child, output: () => output, exited: once(child, 'close') };
  }

  it('exits with all errors in its settings', async () => {
    const yaml = `port: x
identity: name
priority: {}
team: { values: { a: b }, lable: team }
tags: { fixed: [a b], label: [] }
color: red
prioritty: {}`;
    const { output, exited } = await run(yaml, {});
    expect((await exited)[0]).toBe(2);
    const names = ['spool', 'port', 'identity', 'priority', 'team.values.a', 'tags.fixed.0', '"color"'];
    for (const name of [...names, 'ITSM_URL', 'ITSM_KEY', 'ALERTS_TOKEN']) expect(output()).toContain(name);
    expect(output()).toContain('alerts.yaml: Unrecognized key: "prioritty". Did you mean "priority"?');
    expect(output()).toContain('alerts.yaml: tags: Unrecognized key: "label". Did you mean "labels"?');
    expect(output()).toContain('alerts.yaml: team: Unrecognized key: "lable". Did you mean "label"?');
    const malformed = await run('spool: [', {});
    expect((await malformed.exited)[0]).toBe(2);
    expect(malformed.output()).toMatch(/line 1.*ITSM_URL/s);
  });

  it('names the required custom fields that the settings may not fill, with --check and in its log', async () => {
    for (const key of ['absent', 'label', 'filled']) await test.workspace.createField({ key, required: true });
    await test.workspace.createField({ key: 'optional' });
    const yaml = `spool: ${join(test.folder, 'spool')}
port: 0
customFields: { label: { label: label }, filled: { label: label, default: x } }`;
    const env = { ITSM_URL: test.origin, ITSM_KEY: test.workspace.key, ALERTS_TOKEN: token };
    const checked = await run(yaml, env, '--check');
    expect((await checked.exited)[0]).toBe(0);
    expect(checked.output().match(/"\w+"/g)).toEqual(['"absent"', '"label"']);
    const { child, output, exited } = await run(yaml, env);
    await expect.poll(output).toContain('"field":"label"');
    expect(output()).toContain('"field":"absent"');
    expect(output()).not.toContain('"field":"filled"');
    child.kill('SIGTERM');
    await exited;
  });

  it('accepts the settings in examples/alerts', async () => {
    const yaml = await readFile(new URL('../../examples/alerts/alerts.yaml', import.meta.url), 'utf8');
    const env = { ITSM_URL: test.origin, ITSM_KEY: test.workspace.key, ALERTS_TOKEN: token };
    expect((await (await run(yaml, env, '--check')).exited)[0]).toBe(0);
  });

  it('validates its settings with --check, and stops on SIGTERM', async () => {
    const yaml = `spool: ${join(test.folder, 'spool')}\nport: 0\n`;
    const env = { ITSM_URL: test.origin, ITSM_KEY: test.workspace.key, ALERTS_TOKEN: token };
    expect((await (await run(yaml, env, '--check')).exited)[0]).toBe(0);
    const unavailable = await run(yaml, { ...env, ITSM_URL: 'http://127.0.0.1:9' }, '--check');
    expect((await unavailable.exited)[0]).toBe(0);
    expect(unavailable.output()).toContain('did not reach');
    const { child, output, exited } = await run(yaml, env);
    await expect.poll(output).toContain('Server listening at http://127.0.0.1:');
    child.kill('SIGTERM');
    expect((await exited)[0]).toBe(0);
  });
});
