import { readFile } from 'node:fs/promises';

/**
 * Puts what `.env` of this folder says into the environment, where that says nothing; without such a file it does
 * nothing, and in silence: Node's `--env-file-if-exists` tells every command's stderr that there is none.
 * @throws SettingsError when it can't be read
 */
export async function loadEnvFile(): Promise<void> {
  try {
    // Node calls one that may not be read one that isn't there.
    await readFile('.env');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    // Takes longer to load than many a command.
    const { SettingsError } = await import('./env.ts');
    throw new SettingsError(`.env: can't be read: ${code === 'EISDIR' ? 'it is a folder' : message}`);
  }
  process.loadEnvFile('.env');
}
