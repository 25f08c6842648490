import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setMaintenance } from '@itsm-api/server/resources/tenants/maintenance.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { query } from '../support/database.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import { commandLine } from './itsm.ts';

let folder: string;
let cells: [Api, Api];
let mine: Workspace;
let name: string;
let run: (command: string, ...more: string[]) => ReturnType<ReturnType<typeof commandLine>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'itsm-cells-'));
  const env = { ATTACHMENTS_DIR: folder };
  cells = [await startApi({ ownDatabase: true, env }), await startApi({ ownDatabase: true, env })];
  await query(cells[1].databaseUrl, "SELECT setval('tenants_id_seq', 1000000000)");
  mine = await createWorkspace(cells[1]);
  for (let i = 0; i < 3; i++) await mine.createTicket();
  // Makes the database of the second cell larger than the other one.
  await query(
    cells[1].databaseUrl,
    'CREATE TABLE filling AS SELECT repeat(i::text, 500) FROM generate_series(1, 9999) i',
  );
  name = (await cells[1].prisma.tenant.findUniqueOrThrow({ where: { id: mine.tenantId } })).name;
  const file = join(folder, 'cells.yaml');
  await writeFile(
    file,
    'cells: [{ name: cell-0, databaseUrl: CELL_0_DATABASE_URL }, { name: cell-1, databaseUrl: CELL_1_DATABASE_URL }]',
  );
  const urls = { CELL_0_DATABASE_URL: cells[0].databaseUrl, CELL_1_DATABASE_URL: cells[1].databaseUrl };
  const itsm = commandLine('', urls);
  run = (command, ...more) => itsm(`${command} --cells ${file}`, ...more);
});
afterAll(async () => {
  for (const api of cells) await api.close();
  await rm(folder, { recursive: true });
});

it('shows the state of each cell, and sends the next tenant to the cell with the smallest database', async () => {
  const { code, stdout } = await run('cells status --json');
  expect(code).toBe(0);
  const status = JSON.parse(stdout);
  const common = {
    schemaVersion: expect.stringMatching(/^\d{14}_\w+$/),
    ...{ diskBytes: expect.any(Number), connections: expect.any(Number), maxConnections: expect.any(Number) },
    ...{ oldestDueSeconds: 0, standbys: 0, replicationLagBytes: null },
  };
  expect(status).toEqual({
    cells: [
      { cell: 'cell-0', ...common, tenants: 0, tickets: 0 },
      { cell: 'cell-1', ...common, tenants: 1, tickets: 3 },
    ],
    errors: [],
    nextCell: 'cell-0',
  });
  expect((await run('cells status')).stdout).toContain('The next tenant goes to cell-0');
});

it('finds the cell of a tenant by its name or id', async () => {
  for (const tenant of [name.toUpperCase(), String(mine.tenantId)]) {
    const { code, stdout } = await run('cells find --json', tenant);
    const found = { cell: 'cell-1', id: Number(mine.tenantId), name, active: true, inMaintenance: false };
    expect([code, JSON.parse(stdout)]).toEqual([0, { tenants: [found], errors: [] }]);
  }
  await setMaintenance(cells[1], String(mine.tenantId), 'read-only');
  expect((await run('cells find', name)).stdout).toMatch(/cell-1 .* maintenance/);
  expect(await run('cells find', 'Unknown')).toMatchObject({ code: 1, stdout: 'No cell has this tenant.\n' });
});

it('shows the other cells if a cell is unreachable, and exits with 1', async () => {
  const file = join(folder, 'partial.yaml');
  await writeFile(file, 'cells: [{ name: gone, databaseUrl: GONE_URL }, { name: cell-0, databaseUrl: CELL_0_URL }]');
  const itsm = commandLine('', { GONE_URL: 'postgresql://127.0.0.1:1/itsm', CELL_0_URL: cells[0].databaseUrl });
  const { code, stdout } = await itsm(`cells status --json --cells ${file}`);
  expect([code, JSON.parse(stdout)]).toMatchObject([
    1,
    { cells: [{ cell: 'cell-0' }], errors: [{ cell: 'gone', error: expect.stringContaining('127.0.0.1') }] },
  ]);
});

it('names the setting or the file that is missing', async () => {
  const { code, stderr } = await commandLine('', {})(`cells status --cells ${join(folder, 'cells.yaml')}`);
  expect([code, stderr]).toEqual([2, expect.stringContaining('CELL_0_DATABASE_URL: must be the database URL')]);
  expect(stderr).toContain('None of its cells has a database URL. An installation with one database has no cells.');
  const some = await commandLine('', { CELL_1_DATABASE_URL: cells[1].databaseUrl })(
    `cells status --cells ${join(folder, 'cells.yaml')}`,
  );
  expect([some.code, some.stderr]).toEqual([2, expect.not.stringContaining('None of its cells')]);
  const empty = join(folder, 'empty.yaml');
  await writeFile(empty, 'cells: []');
  expect((await commandLine('', {})(`cells status --cells ${empty}`)).stderr).toContain('has no cells');
  expect((await commandLine('', {})('cells status --cells absent.yaml')).stderr).toContain('absent.yaml: must list');
});
