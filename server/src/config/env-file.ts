import { readFile } from 'node:fs/promises';

/**
 * Loads the file `.env` in the current folder into the environment. Existing variables take precedence. If the file is
 * missing, does nothing. The Node.js option `--env-file-if-exists` would print a warning about a missing file on every
 * command.
 * @throws SettingsError if the file can't be read
 */
export async function loadEnvFile(): Promise<void> {
  try {
    // Reads the file first, because `process.loadEnvFile` reports ENOENT even if only the read permission is missing.
    await readFile('.env');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    // Importing env.ts takes more time than many commands need to run, so only this error path imports it.
    const { SettingsError } = await import('./env.ts');
    const reason = code === 'EISDIR' ? 'it is a folder' : message;
    throw new SettingsError(`.env: can't be read: ${reason}. Replace it with a file that this user can read`);
  }
  process.loadEnvFile('.env');
}
