import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Alerts, readSettings, startAlerts } from '@itsm-api/alerts';
import type { Ticket } from '@itsm-api/contract';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

export const token = 'a token of the tests';

interface StartOptions {
  yaml?: string;
  /** The folder of the spool, relative to the folder of the test. Programs with different spools don't share alerts. */
  spool?: string;
  /** The URL of the server. */
  url?: string;
}

export interface Given {
  id?: string;
  labels?: Record<string, unknown>;
  startsAt?: string;
  endsAt?: string;
}

/** The server of a test file, and the workspace, the folder and the programs of the current test. */
export interface AlertsTest {
  origin: string;
  workspace: Workspace;
  folder: string;
  start(options?: StartOptions): Promise<Alerts>;
  stop(alerts: Alerts): Promise<void>;
  /** Waits until the spool has a number of alerts, and returns all tickets, oldest first. */
  settled(alerts: Alerts, waiting?: number): Promise<Ticket[]>;
  /** Changes a ticket as a person. */
  patch(id: number | undefined, fields: object): Promise<void>;
}

/** Starts a server before the tests of a file. Each test has its own workspace and folder. */
export function useAlerts(): AlertsTest {
  const running: Alerts[] = [];
  let api: Api;
  const test = {
    async start({ yaml = '', spool = 'spool', url = test.origin } = {}) {
      const file = join(test.folder, 'alerts.yaml');
      await writeFile(file, `spool: ${join(test.folder, spool)}\nport: 0\n${yaml}`);
      const env = {
        ITSM_URL: url,
        ITSM_KEY: test.workspace.key,
        ALERTS_TOKEN: token,
        ALERTS_USER: 'grafana',
        ALERTS_PASSWORD: token,
      };
      const alerts = await startAlerts(readSettings(file, env), 'silent');
      running.push(alerts);
      return alerts;
    },
    async stop(alerts) {
      running.splice(running.indexOf(alerts), 1);
      await alerts.close();
    },
    async settled(alerts, waiting = 0) {
      const read = async () => (await getJson(alerts, 'healthz')).body.waiting;
      await expect.poll(read, { interval: 20 }).toBe(waiting);
      return (await test.workspace.call('GET', '/tickets?sort=id&perPage=100')).body.data;
    },
    async patch(id, fields) {
      const { status, text } = await test.workspace.call('PATCH', `/tickets/${id}`, fields);
      expect(status, text).toBe(200);
    },
  } as AlertsTest;
  beforeAll(async () => {
    api = await startApi();
    test.origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => api.close());
  beforeEach(async () => {
    test.workspace = await createWorkspace(api);
    test.folder = await mkdtemp(join(tmpdir(), 'itsm-alerts-'));
  });
  afterEach(async () => {
    for (const alerts of running.splice(0)) await alerts.close();
    await rm(test.folder, { recursive: true });
  });
  return test;
}

export async function send(alerts: Alerts, form: string, body: unknown, authorization = `Bearer ${token}`) {
  const response = await fetch(`${alerts.url}/${form}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

/** Sends an alert in the generic form. */
async function notify(alerts: Alerts, status: 'firing' | 'resolved', { id = 'disk', ...given }: Given = {}) {
  const response = await send(alerts, 'generic', {
    alerts: [{ id, status, title: `Disk of ${id} is full`, ...given }],
  });
  expect(response).toMatchObject({ status: 200, body: { received: 1 } });
}

export const fire = (alerts: Alerts, given?: Given) => notify(alerts, 'firing', given);
export const resolve = (alerts: Alerts, given?: Given) => notify(alerts, 'resolved', given);

/** Returns the status and the JSON body of a GET request. */
export async function getJson({ url }: Alerts, path: string) {
  const response = await fetch(`${url}/${path}`);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

/** Returns the metrics of a program as text. */
export async function metricsOf({ url }: Alerts): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

/** Returns the time a number of minutes ago. */
export const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

export const statuses = (tickets: Ticket[]) => tickets.map(({ status }) => status);
