import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { sweepMoved } from '@itsm-api/server/resources/tenants/move-settle.ts';
import { wholeTenantContext } from '@itsm-api/server/resources/tenants/queries.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer, Call } from '../support/api.ts';
import { signIn } from '../support/visitor.ts';
import { type Cells, formatCells, openCells, runCells } from './cells.ts';
import { ask } from './cells-load.ts';
import { moveWhole, refusalOf } from './movers.ts';
import { addWorkspace } from './workspaces.ts';

/*
 * The short form of `pnpm faults cells`, and what is refused before anything is copied.
 */
let cells: Cells;

beforeAll(async () => {
  cells = await openCells();
}, 300_000);
afterAll(() => cells?.close());

it('gives tenants ids from the range of their cell', async () => {
  const [here, there] = await Promise.all(
    [cells.first, cells.second].map(({ runtime }) => addWorkspace(runtime, 'Both')),
  );
  expect([here?.tenantId, there?.tenantId]).toEqual([1_000_000_001n, 2_000_000_001n]);
});

it('refuses what cannot be moved, and leaves nothing there', { timeout: 300_000 }, async () => {
  const { first, second } = cells;
  await addWorkspace(first.runtime, 'Alone');
  const { pool } = second.runtime.databases.system;
  const rowsThere = async () => Number((await pool.query('SELECT count(*) FROM tenants')).rows[0].count);
  const before = await rowsThere();

  const nowhere = { postgres: { ...second.postgres, url: 'postgresql://postgres@127.0.0.1:9/itsm' } };
  const empty = { postgres: { ...second.postgres, url: second.postgres.url.replace(/itsm$/, 'postgres') } };
  const refusals = await Promise.all([
    refusalOf(first, second, 'Both'),
    refusalOf(first, second, 'Nobody'),
    refusalOf(first, nowhere, 'Alone'),
  ]);
  // One at a time moves a tenant.
  refusals.push(await refusalOf(first, first, 'Alone'), await refusalOf(first, empty, 'Alone'));
  expect(refusals).toEqual([
    expect.stringContaining('Another tenant has this name there. Rename one of them.'),
    expect.stringContaining('There is no tenant named Nobody.'),
    expect.stringContaining("The database can't be reached: connect ECONNREFUSED"),
    expect.stringContaining('--to is a database of this same server'),
    expect.stringContaining('The databases have different schemas: the other one lacks 2026'),
  ]);
  expect(await rowsThere()).toBe(before);
});

it('has sessions, answers and ids go on in the other cell, and exports nothing where it was', {
  timeout: 300_000,
}, async () => {
  const { first, second } = cells;
  const workspace = await addWorkspace(first.runtime, 'Going');
  const create = (apiUrl: string, title: string) =>
    ask(apiUrl, workspace.key, 'POST', '/tickets', {
      title,
      description: 'Of before.',
      type: 'INCIDENT',
      category: 'NETWORK',
    });
  const before = await create(first.apiUrl, 'Once');
  expect(before.status).toBe(201);
  let leadsTo = first;
  const call = (given: Call) => callOverHttp(leadsTo.apiUrl, given);
  const visitor = await signIn({ call, databases: first.runtime.databases }, workspace);
  expect((await visitor.get('/developer/keys')).status).toBe(200);

  await moveWhole(first, second, 'Going');
  leadsTo = second;
  expect((await visitor.get('/developer/keys')).status).toBe(200);
  expect((await create(second.apiUrl, 'Once')).body).toEqual(before.body);
  const next = await create(second.apiUrl, 'Another');
  expect(next.status).toBe(201);
  expect(next.body.data.id).toBeGreaterThan(before.body.data.id);

  await sweepMoved(first.runtime, { afterSeconds: 0 });
  expect(await first.runtime.prisma.ticket.count({ where: { tenantId: workspace.tenantId } })).toBe(0);
  expect((await ask(first.apiUrl, workspace.key, 'GET', '/tickets')).status).toBe(429);
  await expect(wholeTenantContext(first.runtime, 'Going')).rejects.toThrow('Going is in another cell');
});

/** As a browser that knows the server as `localhost`. */
async function callOverHttp(url: string, { method, path, headers, body }: Call): Promise<Answer> {
  const sent = request(new URL(path, url), { method, headers: { host: 'localhost', ...headers } });
  sent.end(body);
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, headers: response.headers, text: await text(response), body: undefined };
}

it('leaves a workspace that moves whole and on one side, wherever its mover is killed', {
  timeout: 600_000,
}, async () => {
  const report = await runCells(cells, { kills: 4, tickets: 500, perSecond: 50 });
  console.log(formatCells(report));
  const nothing = { lost: [], doubled: [], untold: [], unfollowed: [], broken: [] };
  expect(report).toMatchObject({ kills: 4, ...nothing, unexpected: [], wrongTotals: [], crashes: [] });
  expect(report.acknowledged).toBeGreaterThan(100);
});
