import * as z from 'zod';
import { type Cell, readCells } from '../../../config/cells.ts';
import type { Settings } from '../../../config/env.ts';
import type { Databases } from '../../../database/client/databases.ts';
import { openForDiagnosis } from '../../../process/runtime.ts';
import { type CellStatus, findTenantInCell, readCellStatus } from '../../../resources/tenants/cell-status.ts';
import { activeLabel, statusLabel } from '../../lib/output.ts';
import { createAction, readSetting } from '../../lib/run-command.ts';

const CellsFile = z.strictObject({ cells: z.string() });

/** The results of the cells that could be read and had one, and the reasons why other cells couldn't be read. */
interface OfCells<Found> {
  found: ({ cell: string } & Found)[];
  errors: { cell: string; error: string }[];
}

const open = async (settings: Settings) => ({ settings, close: async () => undefined });

/** Calls `read` for all cells concurrently. An unreachable cell doesn't affect the other cells. */
async function readEach<Found extends object>(
  settings: Settings,
  file: string,
  read: (databases: Databases) => Promise<Found | undefined>,
): Promise<OfCells<Found>> {
  const readOne = async ({ name, url }: Cell): Promise<OfCells<Found>> => {
    const databases = openForDiagnosis(url, settings);
    try {
      const found = await read(databases);
      return { found: found === undefined ? [] : [{ cell: name, ...found }], errors: [] };
    } catch (error) {
      return { found: [], errors: [{ cell: name, error: error instanceof Error ? error.message : String(error) }] };
    } finally {
      await databases.close();
    }
  };
  const results = await Promise.all((await readCells(file, readSetting)).map(readOne));
  return { found: results.flatMap(({ found }) => found), errors: results.flatMap(({ errors }) => errors) };
}

function formatErrors(errors: OfCells<object>['errors']): string[] {
  return errors.map(({ cell, error }) => `The cell ${cell} can't be read: ${error}`);
}

export const status = createAction({
  open,
  input: CellsFile,
  async work({ settings }, { cells: file }) {
    const { found: cells, errors } = await readEach(settings, file, readCellStatus);
    const [next] = cells.toSorted((a, b) => a.diskBytes - b.diskBytes);
    return { cells, errors, nextCell: next?.cell ?? null };
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
    const { found: tenants, errors } = await readEach(settings, file, (databases) =>
      findTenantInCell(databases, tenant),
    );
    return { tenants, errors };
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
