import { tenantContext } from '@itsm-api/server/resources/tenants/queries.ts';
import { createWebhook } from '@itsm-api/server/resources/webhooks/webhook-management.ts';
import { createSecretCipher } from '@itsm-api/server/webhooks/secrets/secret-cipher.ts';
import { describe, expect } from 'vitest';
import { secretKey } from '../support/command-process.ts';
import { execute } from '../support/database.ts';
import { api } from '../support/fixture.ts';
import { createWorkspace } from '../support/workspace.ts';
import { itWithCommands as it, itsm } from './itsm.ts';

/** The ID of a tenant that has a subscription with 101 exhausted and 3 successful deliveries. */
let tenant: string;
let subscription: number;

const exhausted = 101;

it.beforeAll(async () => {
  const { tenantId } = await createWorkspace(api);
  tenant = String(tenantId);
  // Each command checks that it can decrypt all secrets, so the API and the commands need the same encryption key.
  const services = { ...api.services, secretCipher: createSecretCipher([secretKey]) };
  const context = await tenantContext({ databases: api.databases, services }, tenant);
  const webhook = { url: 'https://hooks.example.com/itsm', secret: 'secret', events: ['ticket.created' as const] };
  subscription = (await createWebhook(context, webhook)).id;
  await execute(
    api.databaseUrl,
    `INSERT INTO events (tenant_id, public_id, type, body)
       SELECT ${tenant}, 'evt_' || n, 'ticket.created', '{}' FROM generate_series(1, ${exhausted + 3}) n;
     INSERT INTO deliveries (tenant_id, subscription_id, event_id, attempts, state, settled_at)
       SELECT tenant_id, ${subscription}, id, 10, 'EXHAUSTED', now() FROM events;
     UPDATE deliveries SET state = 'DELIVERED' WHERE id <= 3`,
  );
});

const due = () => api.prisma.delivery.count({ where: { state: 'PENDING' } });

describe('deliveries replay', () => {
  it('names the option that replays the failed deliveries if it gets no option', async () => {
    const rejected = await itsm(`deliveries replay --tenant ${tenant}`);
    expect(rejected).toMatchObject({ code: 2, stdout: '' });
    expect(rejected.stderr).toMatch(/^error: <id> or a filter is required\. .*use --state exhausted\./);
    const named = await itsm(`deliveries replay --tenant ${tenant} --state exhausted --dry-run`);
    expect(named).toEqual({ code: 0, stdout: `${exhausted} deliveries would be replayed.\n`, stderr: '' });
  });

  it('requires --yes to replay many deliveries without a terminal', async () => {
    const replay = `deliveries replay --tenant ${tenant} --subscription ${subscription}`;
    const rejected = await itsm(replay);
    expect(rejected).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: --yes is required to replay ${exhausted} deliveries without a terminal\n`,
    });
    const counted = await itsm(`${replay} --dry-run`);
    expect(counted).toEqual({ code: 0, stdout: `${exhausted} deliveries would be replayed.\n`, stderr: '' });
    expect(await due()).toBe(0);

    expect(JSON.parse((await itsm(`${replay} --yes --json`)).stdout)).toEqual({
      matching: exhausted,
      replayed: exhausted,
    });
    expect(await due()).toBe(exhausted);
  });

  it('succeeds if no delivery matches, and fails for an unknown ID', async () => {
    const none = await itsm(`deliveries replay --tenant ${tenant} --state exhausted --since 1m --until 1m`);
    const stdout = 'Nothing to replay: no delivery to an active subscription matches.\n';
    expect(none).toEqual({ code: 0, stdout, stderr: '' });
    const unknown = await itsm(`deliveries replay 987654321 --tenant ${tenant} --json`);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('NOT_FOUND') });
  });

  it('replays successful deliveries only by ID or with --state delivered', async () => {
    const one = await itsm(`deliveries replay 1 --tenant ${tenant}`);
    expect(one).toEqual({ code: 0, stdout: 'Replaying 1 delivery.\n', stderr: '' });
    const rest = await itsm(`deliveries replay --tenant ${tenant} --state delivered`);
    expect(rest).toEqual({ code: 0, stdout: 'Replaying 2 deliveries.\n', stderr: '' });
    expect(await due()).toBe(exhausted + 3);
  });
});

describe('deliveries show', () => {
  it('removes control characters from the output of `deliveries show`', async () => {
    const evil = '\u001b[31m\u009b2J\u0007';
    await api.prisma.event.updateMany({ data: { body: `{"title":"${evil}"}` } });
    await api.prisma.webhookSubscription.updateMany({ data: { url: `https://hooks.example.com/${evil}` } });
    await api.prisma.deliveryAttempt.create({
      data: {
        tenantId: BigInt(tenant),
        deliveryId: 1n,
        number: 1,
        startedAt: new Date(0),
        durationMs: 1,
        answer: evil,
      },
    });
    const { code, stdout } = await itsm(`deliveries show 1 --tenant ${tenant}`);
    expect(code).toBe(0);
    expect(stdout).toContain('https://hooks.example.com/ [31m 2J');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });
});
