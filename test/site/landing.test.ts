import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@itsm-api/server/http/logging/logger.ts';
import { startWebhooks } from '@itsm-api/server/webhooks/start-webhooks.ts';
import { afterAll, expect } from 'vitest';
import { seed } from '../../prisma/seed.ts';
import { api, itWithApi } from '../support/fixture.ts';

/*
 * Runs the commands of the landing page in an empty folder. The commands create a ticket in the demo workspace and verify
 * a webhook.
 */
let folder: string;
let key: string;
let stopDelivery: () => Promise<void>;
const children: ChildProcess[] = [];

const it = itWithApi.extend(
  'options',
  { scope: 'file' },
  { ownDatabase: true, env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' } },
);
it.beforeAll(async () => {
  key = (await seed(api))?.key ?? '';
  stopDelivery = await startWebhooks({ ...api, logger: createLogger('error') });
  folder = await mkdtemp(join(tmpdir(), 'itsm-landing-'));
});
afterAll(async () => {
  for (const { pid } of children) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  await stopDelivery();
  await rm(folder, { recursive: true });
});

it('creates a ticket and verifies a webhook with the commands of the landing page', async () => {
  const origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const page = await readFile(new URL('../../docs/index.md', import.meta.url), 'utf8');
  const [, ...steps] = page
    .split(/^## /m)
    .map((part) => [...part.matchAll(/^```\w+[^\n]*\n(.*?)^```$/gms)].map(([, code = '']) => code));
  const [first = [], webhook = []] = steps;
  const port = String(await freePort());
  const atPort = (code = '') => code.replaceAll('4000', port);
  await writeFile(join(folder, 'receive.mjs'), atPort(webhook[0]));
  // Runs all commands in one shell, as if a user pasted them.
  const shell = spawn('bash', ['-e'], { cwd: folder, detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(shell);
  let output = '';
  shell.stdout.on('data', (chunk) => (output += chunk));
  const paste = [...first, atPort(webhook[1])].join('\necho\n');
  shell.stdin.write(
    paste
      .replaceAll('http://127.0.0.1:3000', origin)
      .replace('itsm_…', key)
      .replaceAll('curl ', 'curl -sS --fail-with-body '),
  );

  await expect.poll(() => output).toContain(webhook[2]?.trim());
  expect(output).toContain('"ticketNumber":"INC-19"');
  const [, hero = ''] = /^```json[^\n]*\n(.*?)^```$/ms.exec(page) ?? [];
  const expected = JSON.parse(hero.replace(/,\s*…/, '')).data;
  const response = await api.call({ method: 'GET', path: '/api/public/v1/tickets/40', key });
  expect(response.body.data).toMatchObject({ ...expected, status: 'IN_PROGRESS' });
  shell.stdin.end();
  if (shell.exitCode === null) await once(shell, 'exit');
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
