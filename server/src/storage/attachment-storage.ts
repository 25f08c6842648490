import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Disk } from 'flydrive';
import { attachmentsDirectory, type Settings } from '../config/env.ts';
import { errorCode } from '../shared/error-codes.ts';
import { MissingFileError } from '../shared/errors.ts';
import { openDirectory } from './directory-driver.ts';
import { openBucket } from './s3-driver.ts';

/** Stores the files of attachments in a directory or an S3 bucket (docs/decisions/attachments-design.md, "Storage"). */
export interface AttachmentStorage {
  /**
   * Streams `body` to a new temporary key and resolves to the key. If the body fails or doesn't have `length` bytes,
   * deletes the key and rejects with the body's error. Never destroys the body, so that the caller can still respond.
   */
  writeTemporary(body: Readable, length: number): Promise<string>;
  /** Moves a temporary key to its final key, `<tenantId>/<uuid>`. Move a file before you commit its row. */
  move(temporaryKey: string, key: string): Promise<void>;
  /** Opens a file. Rejects with MissingFileError if the file is missing. To stop reading early, destroy the stream. */
  read(key: string): Promise<Readable>;
  /** Deletes a file. Does nothing if the file is missing. */
  delete(key: string): Promise<void>;
  /** Lists temporary and final keys, in no particular order. Omits all other files. */
  list(): AsyncIterable<{ key: string; modifiedAt: Date }>;
  /** Returns the id of the installation that uses this store, or undefined if the store has no marker. */
  readMarker(): Promise<string | undefined>;
  writeMarker(installationId: string): Promise<void>;
  /** How long in milliseconds a check of the marker stays valid. A directory can be unmounted at any time. */
  markerMaxAgeMs: number;
}

const markerKey = 'installation-id';
const fileKey = /^(temporary|\d{1,18})\/[\da-f-]{36}$/;

/**
 * Opens the store that the settings describe. The first write creates a missing directory.
 * @throws SettingsError if the settings describe a bucket and the AWS SDK isn't installed
 */
export async function openAttachmentStorage(settings: Settings): Promise<AttachmentStorage> {
  const directory = attachmentsDirectory(settings);
  const disk = new Disk(directory === undefined ? await openBucket(settings) : openDirectory(directory));
  return {
    async writeTemporary(body, length) {
      body.once('error', () => undefined); // Without a listener, an early error would end the process.
      const key = `temporary/${randomUUID()}`;
      const content = Readable.from(checkLength(body, length), { objectMode: false });
      // FlyDrive ignores a `contentLength` of 0.
      await disk.putStream(key, content, { ContentLength: length }).catch(async (error: unknown) => {
        content.destroy();
        await disk.delete(key).catch(() => undefined);
        throw content.errored ?? error;
      });
      return key;
    },
    move: (temporaryKey, key) => disk.move(temporaryKey, key),
    read: (key) =>
      disk.getStream(key).catch((error: Error) => {
        throw isMissing(error.cause) ? new MissingFileError(key) : error;
      }),
    delete: (key) => disk.delete(key),
    list: () => listFiles(disk, '/'),
    readMarker: async () => ((await disk.exists(markerKey)) ? (await disk.get(markerKey)).trim() : undefined),
    writeMarker: (installationId) => disk.put(markerKey, `${installationId}\n`),
    markerMaxAgeMs: directory === undefined ? 5000 : 0,
  };
}

/** Returns whether an error of the file system or of the AWS SDK means that only the file is missing. */
function isMissing(error: unknown): boolean {
  return errorCode(error) === 'ENOENT' || (error instanceof Error && error.name === 'NoSuchKey');
}

/** Yields the chunks of a body. @throws Error if the body doesn't have `length` bytes */
async function* checkLength(body: Readable, length: number): AsyncGenerator<Buffer> {
  let received = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    received += chunk.length;
    if (received > length) break;
    yield chunk;
  }
  if (received !== length) throw new Error(`The body doesn't have ${length} bytes.`);
}

async function* listFiles(disk: Disk, prefix: string): ReturnType<AttachmentStorage['list']> {
  let paginationToken: string | undefined;
  do {
    const page = await disk.listAll(prefix, { paginationToken });
    for (const entry of page.objects) {
      if (!entry.isFile) yield* listFiles(disk, entry.prefix);
      else if (fileKey.test(entry.key)) {
        // Ignores files that an upload has moved or deleted in the meantime.
        const metadata = await entry.getMetaData().catch(() => undefined);
        if (metadata !== undefined) yield { key: entry.key, modifiedAt: metadata.lastModified };
      }
    }
    ({ paginationToken } = page);
  } while (paginationToken !== undefined);
}
