import { readFile } from 'node:fs/promises';

/**
 * Loads the file `.env` in the current folder into the environment. Existing variables take precedence. If the file is
 * missing, does nothing. The option `--env-file-if-exists` of Node.js would print a warning about the missing file with
 * every command.
 * @throws SettingsError if the file can't be read
 */
export async function loadEnvFile(): Promise<void> {
  try {
    // Reads the file first, because `process.loadEnvFile` also reports ENOENT if the read permission is missing.
    await readFile('.env');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    // Importing env.ts takes more time than many commands need in total, so only this error path imports it.
    const { SettingsError } = await import('./env.ts');
    throw new SettingsError(`.env: can't be read: ${code === 'EISDIR' ? 'it is a folder' : message}`);
  }
  process.loadEnvFile('.env');
}
