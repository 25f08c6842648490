import * as z from 'zod';
import { type Cell, readCells } from '../../../config/cells.ts';
import type { Settings } from '../../../config/env.ts';
import { type Databases, openDatabases } from '../../../database/client/databases.ts';
import { timeoutsOf } from '../../../process/runtime.ts';
import { type CellStatus, findTenantInCell, readCellStatus } from '../../../resources/tenants/cell-status.ts';
import { activeLabel, statusLabel } from '../../lib/output.ts';
import { createAction, readSetting } from '../../lib/run-command.ts';

const CellsFile = z.strictObject({ cells: z.string() });

/** The result of reading one cell: `found`, or the reason why the cell couldn't be read. */
type OfCell<Found> = { cell: string } & ({ found: Found } | { error: string });

const open = async (settings: Settings) => ({ settings, close: async () => undefined });

/** Calls `read` for all cells concurrently. An unreachable cell doesn't affect the other cells. */
async function readEach<Found>(
  settings: Settings,
  file: string,
  read: (databases: Databases) => Promise<Found>,
): Promise<OfCell<Found>[]> {
  const readOne = async ({ name, url }: Cell): Promise<OfCell<Found>> => {
    const databases = openDatabases({
      url,
      requestConnections: 1,
      timeouts: timeoutsOf(settings),
      worker: false,
      onConnectionError: () => undefined,
    });
    try {
      return { cell: name, found: await read(databases) };
    } catch (error) {
      return { cell: name, error: error instanceof Error ? error.message : String(error) };
    } finally {
      await databases.close();
    }
  };
  return Promise.all((await readCells(file, readSetting)).map(readOne));
}

function errorsOf(cells: OfCell<unknown>[]): { cell: string; error: string }[] {
  return cells.flatMap((each) => ('error' in each ? [{ cell: each.cell, error: each.error }] : []));
}

function formatErrors(errors: ReturnType<typeof errorsOf>): string[] {
  return errors.map(({ cell, error }) => `The cell ${cell} can't be read: ${error}`);
}

export const status = createAction({
  open,
  input: CellsFile,
  async work({ settings }, { cells: file }) {
    const results = await readEach(settings, file, readCellStatus);
    const cells = results.flatMap((each) => ('found' in each ? [{ cell: each.cell, ...each.found }] : []));
    const [next] = cells.toSorted((a, b) => a.diskBytes - b.diskBytes);
    return { cells, errors: errorsOf(results), nextCell: next?.cell ?? null };
  },
  format: ({ cells, errors, nextCell }, { table }) =>
    [
      table(
        ['CELL', 'SCHEMA', 'TENANTS', 'TICKETS', 'DISK', 'CONNECTIONS', 'OLDEST DUE', 'STANDBYS', 'LAG'],
        cells.map(({ cell, ...found }) => [cell, ...formatStatus(found)]),
      ),
      ...formatErrors(errors),
      ...(nextCell === null ? [] : [`The next tenant goes to ${nextCell}, which has the smallest database.`]),
    ].join('\n'),
  failed: ({ errors }) => errors.length > 0,
});

function formatStatus(status: CellStatus): (string | number | null)[] {
  const { replicationLagBytes: lag } = status;
  return [
    ...[status.schemaVersion, status.tenants, status.tickets, formatMegabytes(status.diskBytes)],
    `${status.connections} of ${status.maxConnections}`,
    ...[`${Math.round(status.oldestDueSeconds)} s`, status.standbys, lag === null ? null : formatMegabytes(lag)],
  ];
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export const find = createAction({
  open,
  input: CellsFile.extend({ tenant: z.string() }),
  async work({ settings }, { tenant, cells: file }) {
    const results = await readEach(settings, file, (databases) => findTenantInCell(databases, tenant));
    const tenants = results.flatMap((each) =>
      'found' in each && each.found !== undefined ? [{ cell: each.cell, ...each.found }] : [],
    );
    return { tenants, errors: errorsOf(results) };
  },
  format: ({ tenants, errors }, { table }) =>
    [
      tenants.length === 0
        ? 'No cell has this tenant.'
        : table(
            ['CELL', 'ID', 'NAME', 'STATUS'],
            tenants.map(({ cell, id, name, active, inMaintenance }) => [
              ...[cell, id, name],
              inMaintenance ? statusLabel('maintenance') : activeLabel(active),
            ]),
          ),
      ...formatErrors(errors),
    ].join('\n'),
  failed: ({ tenants, errors }) => tenants.length === 0 || errors.length > 0,
});
