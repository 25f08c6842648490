import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ItsmClient } from '@itsm-api/client';
import { signTestEvent } from '@itsm-api/client/webhooks';
import { type Fault, type Itsm, startItsm, type Workspace } from '@itsm-api/testing';
import { Integration } from './integration.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const alert = { id: '4711', title: 'VPN is down', description: 'No response from the gateway.' };

let itsm: Itsm;
let workspace: Workspace;
/** Changes tickets as a service desk does, without the faults of `workspace.url`. */
let desk: ItsmClient;
let integration: Integration;

before(async () => {
  itsm = await startItsm();
});
after(() => itsm.stop());

beforeEach(async () => {
  workspace = await itsm.createWorkspace();
  desk = new ItsmClient({ baseUrl: itsm.url, apiKey: workspace.key });
  const key = await workspace.createKey({ scopes: ['tickets:read', 'tickets:write'] });
  integration = new Integration(workspace.url, key);
});

describe('sync', () => {
  it('copies new and changed tickets', async () => {
    const { id } = await integration.report(alert);
    await integration.report({ ...alert, id: '4712' });
    assert.equal(await integration.sync(), 2);

    await desk.tickets.update(id, { priority: 'CRITICAL' });
    assert.equal(await integration.sync(), 1);
    assert.equal(integration.tickets.get(id)?.priority, 'CRITICAL');
  });
});

describe('report', () => {
  it('creates one ticket per alert', async () => {
    const first = await integration.report(alert);
    const second = await integration.report(alert);
    assert.equal(second.id, first.id);
    assert.equal((await desk.tickets.list()).meta.totalCount, 1);
  });

  const faults: [string, Fault][] = [
    ['a 429', { status: 429, retryAfterSeconds: 1 }],
    ['a 500', { status: 500 }],
    ['a dropped connection', { disconnect: true }],
  ];
  for (const [name, fault] of faults) {
    it(`creates one ticket after ${name}`, async () => {
      workspace.failNext(fault);
      const ticket = await integration.report(alert);
      assert.deepEqual(
        (await desk.tickets.list()).data.map(({ id }) => id),
        [ticket.id],
      );
    });
  }
});

describe('webhook receiver', () => {
  let url: string;

  /** Starts the receiver of the integration and registers it. */
  async function startReceiver(): Promise<void> {
    const server = integration.createReceiver(secret).listen(0, '127.0.0.1');
    after(() => server.close());
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await desk.webhooks.create({ url, secret, events: ['ticket.created', 'ticket.updated'] });
  }

  it('updates the copy', async () => {
    await startReceiver();
    const { id } = await integration.report(alert);
    await eventually(() => assert.ok(integration.tickets.has(id)));
    await desk.tickets.update(id, { status: 'IN_PROGRESS' });
    await eventually(() => assert.equal(integration.tickets.get(id)?.status, 'IN_PROGRESS'));
  });

  it('rejects an event with a wrong signature', async () => {
    await startReceiver();
    const ticket = await integration.report(alert);
    const forged = { ...ticket, id: 9999 };
    const delivery = await signTestEvent({ type: 'ticket.created', ticket: forged }, 'a secret of an attacker');
    const response = await fetch(url, { method: 'POST', ...delivery });
    assert.equal(response.status, 400);
    assert.equal(integration.tickets.has(9999), false);
  });
});

/** Repeats a check until it succeeds, for at most 5 seconds. */
async function eventually(check: () => void): Promise<void> {
  for (const deadline = Date.now() + 5000; ; await sleep(20)) {
    try {
      return check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}
