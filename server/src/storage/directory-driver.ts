import { mkdir, open, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { FSDriver } from 'flydrive/drivers/fs';

/** Opens a driver for a directory. FlyDrive would copy files to move them, and report failures too early or too late. */
export function openDirectory(directory: string): FSDriver {
  const locate = (key: string) => join(directory, key);
  const create = (path: string) => mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return Object.assign(new FSDriver({ location: directory, visibility: 'private' }), {
    async putStream(key: string, contents: Readable) {
      await create(locate(key));
      await writeFile(locate(key), contents);
    },
    async move(source: string, destination: string) {
      await create(locate(destination));
      await rename(locate(source), locate(destination));
      // After a power failure, a committed row must not have a truncated file.
      const file = await open(locate(destination), 'r+');
      await file.sync().finally(() => file.close());
    },
    getStream: async (key: string) => (await open(locate(key))).createReadStream(),
  });
}
