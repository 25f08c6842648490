import { dataDir, start, stopStarted } from './start-process.ts';

/** A server process after its first start, with a worker, a database and the demo workspace. */
export interface FirstStart {
  /** The URL origin of the pages and the API. */
  origin: string;
  /** The API key, which the server prints. */
  key: string;
  /** The sign-in link for the developer area, which the server prints. */
  link: string;
  /** Resolves with the output of the process when the process exits. */
  exited: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts a server in a new folder, as a user does after cloning the repository.
 * @param env additional environment variables
 */
export async function firstStart(env: Record<string, string> = {}): Promise<FirstStart> {
  const server = start({ DATA_DIR: await dataDir(), ...env });
  await server.ready;
  const line = server
    .output()
    .split('\n')
    .find((line) => line.includes('"demo"'));
  const { key, area } = JSON.parse(line ?? '').demo as { key: string; area: string };
  return {
    origin: new URL(area).origin,
    key,
    link: area,
    exited: server.exited.then(server.output),
    stop: stopStarted,
  };
}
