import { readFile } from 'node:fs/promises';

/**
 * Loads `.env` of the current folder into the environment. Existing variables win. If the file is missing, does nothing:
 * Node's `--env-file-if-exists` would print a warning with every command.
 * @throws SettingsError if the file can't be read
 */
export async function loadEnvFile(): Promise<void> {
  try {
    // `process.loadEnvFile` reports ENOENT for a file without read permission as well.
    await readFile('.env');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    // This import takes longer than many commands, so only the error path loads it.
    const { SettingsError } = await import('./env.ts');
    throw new SettingsError(`.env: can't be read: ${code === 'EISDIR' ? 'it is a folder' : message}`);
  }
  process.loadEnvFile('.env');
}
