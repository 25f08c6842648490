import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';

/**
 * Puts what `.env` of this folder says into the environment, where that says nothing; without such a file it does
 * nothing, and in silence: Node's `--env-file-if-exists` tells every command's stderr that there is none, and calls
 * a file that it may not read one that isn't there.
 * @throws SettingsError when it can't be read
 */
export async function loadEnvFile(): Promise<void> {
  const text = await readFile('.env', 'utf8').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    // Takes longer to load than many a command.
    const { SettingsError } = await import('./env.ts');
    throw new SettingsError(`.env: can't be read: ${error.code === 'EISDIR' ? 'it is a folder' : error.message}`);
  });
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
}
