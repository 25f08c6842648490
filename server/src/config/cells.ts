import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import * as z from 'zod';
import { SettingsError } from './env.ts';

/** An installation with its own database that serves some of the tenants (docs/scaling.md). */
export interface Cell {
  name: string;
  /** The URL of its database. */
  url: string;
}

const CellsFile = z.strictObject({
  cells: z
    .array(z.strictObject({ name: z.string().min(1), databaseUrl: z.string().regex(/^[A-Z][A-Z\d_]*$/) }))
    .min(1, 'must contain a cell; an installation with one database has no cells')
    .refine((cells) => new Set(cells.map(({ name }) => name)).size === cells.length, 'two cells have the same name'),
});

/**
 * Reads the list of cells in the format of `deploy/cells.yaml`. The file contains the names of the settings with the
 * database URLs, because the URLs contain passwords.
 * @throws SettingsError if the file or one of its settings is missing or invalid
 */
export async function readCells(file: string, readSetting: (name: string) => string | undefined): Promise<Cell[]> {
  const { cells } = await readCellsFile(file);
  const hasNone = cells.every(({ databaseUrl }) => !readSetting(databaseUrl));
  const advice = hasNone
    ? ' None of its cells has a database URL. An installation with one database has no cells.'
    : '';
  return cells.map(({ name, databaseUrl }) => {
    const url = readSetting(databaseUrl);
    if (!url)
      throw new SettingsError(`${databaseUrl}: must be the database URL of the cell ${name} in ${file}.${advice}`);
    return { name, url };
  });
}

async function readCellsFile(file: string): Promise<z.output<typeof CellsFile>> {
  try {
    return CellsFile.parse(parse(await readFile(file, 'utf8')));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new SettingsError(`${file}: must list the cells as deploy/cells.yaml does. ${reason}`);
  }
}
