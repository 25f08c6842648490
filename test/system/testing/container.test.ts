import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ItsmClient } from '@itsm-api/client';
import { ItsmContainer, type StartedItsmContainer } from '@itsm-api/testing/container';
import { getContainerRuntimeClient } from 'testcontainers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipUnlessInstalled } from '../../support/programs.ts';
import { skipUnless } from '../../support/skip-unless.ts';
import { ticket } from '../../support/workspace.ts';
import { runPytest } from './pytest.ts';

const root = join(import.meta.dirname, '../../..');
const image = 'itsm-standalone';
const hasDocker = await getContainerRuntimeClient().then(
  () => true,
  () => false,
);

/** Needs a Docker engine. To use another base image, set `TEST_NODE_IMAGE`. */
describe('the image standalone', skipUnless(hasDocker, 'No Docker engine responds.'), () => {
  let itsm: StartedItsmContainer;

  beforeAll(async () => {
    const { TEST_NODE_IMAGE } = process.env;
    const base = TEST_NODE_IMAGE ? ['--build-arg', `NODE_IMAGE=${TEST_NODE_IMAGE}`] : [];
    await promisify(execFile)('docker', ['build', ...base, '--target', 'standalone', '--tag', image, root]);
    itsm = await new ItsmContainer(image).withRateLimits().start();
  }, 600_000);
  afterAll(() => itsm?.stop());

  it('has the functions of a server in a child process', async () => {
    const workspace = await itsm.createWorkspace();
    const receiver = await workspace.receiver();
    const client = new ItsmClient({ baseUrl: workspace.url, apiKey: workspace.key, maxRetries: 0, maxWaitMs: 0 });
    workspace.failNext({ status: 500 });
    await expect(client.tickets.create(ticket)).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    const { id } = await client.tickets.create(ticket);
    expect((await receiver.waitFor('ticket.created')).ticket.id).toBe(id);

    const key = await workspace.createKey({ scopes: ['tickets:read'], user: await workspace.createUser() });
    const limited = new ItsmClient({ baseUrl: workspace.url, apiKey: key, maxWaitMs: 0 });
    for (let count = 0; count < 30; count++) await limited.tickets.list({ perPage: 1 });
    await expect(limited.tickets.list()).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
  });

  it('runs the tests in Python', { timeout: 120_000, ...skipUnlessInstalled(['pytest-3', 'pytest']) }, async () => {
    expect(await runPytest()).toContain('4 passed');
  });
});
