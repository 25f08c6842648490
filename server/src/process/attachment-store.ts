import type { Readable } from 'node:stream';
import type { Pool } from '../database/client/pool.ts';
import { ApiError, formatSeconds } from '../shared/errors.ts';
import { lazy } from '../shared/lazy.ts';
import type { AttachmentStorage } from '../storage/attachment-storage.ts';

/*
 * Ensures that a process uses only the store of attachments that belongs to its database
 * (docs/decisions/attachments.md, "Storage").
 */

/** The error for a store that doesn't belong to the installation of the database. */
export class StoreMismatchError extends Error {
  override name = 'StoreMismatchError';
}

/** What the database and the store contain about each other. */
export interface StoreMarker {
  /** The id of the installation in the database. */
  installationId: string;
  /** Whether a process of this installation has marked its store. */
  isMarked: boolean;
  /** The installation id in the store, or undefined if the store has no marker. */
  found: string | undefined;
}

const select = `SELECT installation_id AS "installationId", attachments_marked_at IS NOT NULL AS "isMarked"
  FROM installation`;

/** Reads the marker of a store without changing it. */
export async function readStoreMarker(pool: Pool, storage: AttachmentStorage): Promise<StoreMarker> {
  const { rows } = await pool.query(select);
  return { ...rows[0], found: await storage.readMarker() };
}

/** Checks the marker of a store. @throws StoreMismatchError if the store belongs to another installation */
export function checkStoreMarker({ installationId, isMarked, found }: StoreMarker): void {
  if (found === installationId || (found === undefined && !isMarked)) return;
  const problem =
    found === undefined
      ? `The attachment store lacks the file installation-id, so it isn't the store that this database uses`
      : `The attachment store belongs to another installation (${found})`;
  throw new StoreMismatchError(`${problem}. The id of this installation is ${installationId}.`);
}

/**
 * Checks the marker of a store. If the installation has no store yet, marks the store first. An advisory lock prevents
 * two processes with different stores from both marking theirs. A row lock would hold back all change feeds while the
 * store responds.
 * @throws StoreMismatchError if the store belongs to another installation
 */
export async function markStore(pool: Pool, storage: AttachmentStorage): Promise<void> {
  await pool.lend(async (connection) => {
    await connection.query('BEGIN');
    try {
      await connection.query("SELECT pg_advisory_xact_lock(hashtextextended('attachment store', 0))");
      const { rows } = await connection.query(select);
      const marker: StoreMarker = { ...rows[0], found: await storage.readMarker() };
      checkStoreMarker(marker);
      if (!marker.isMarked) {
        await storage.writeMarker(marker.installationId);
        await connection.query('UPDATE installation SET attachments_marked_at = now()');
      }
      await connection.query('COMMIT');
    } catch (error) {
      await connection.query('ROLLBACK');
      throw error;
    }
  });
}

const retryAfterSeconds = 30;

interface StoreOptions {
  pool: Pool;
  /** Opens the storage. Called on the first use. */
  open: () => Promise<AttachmentStorage>;
  /** Called with each error of the store. */
  onFailure: (error: Error) => void;
}

/**
 * Returns a storage that opens and checks the store on its first use. While the store is unavailable or belongs to
 * another installation, each method rejects with ApiError SERVICE_UNAVAILABLE, and the next call checks again.
 */
export function protectStorage({ pool, open, onFailure }: StoreOptions): AttachmentStorage {
  const openChecked = lazy(async () => {
    const storage = await open();
    await markStore(pool, storage);
    return storage;
  });
  type Work<Result> = (storage: AttachmentStorage) => Promise<Result>;
  const use = async <Result>(work: Work<Result>, body?: Readable): Promise<Result> => {
    try {
      return await work(await openChecked());
    } catch (error) {
      // An interrupted upload is not an error of the store.
      if (body?.errored) throw error;
      onFailure(error as Error);
      const message = `The attachment store is unavailable. Retry in ${formatSeconds(retryAfterSeconds)}.`;
      throw new ApiError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds });
    }
  };
  return {
    writeTemporary(body, length) {
      // The body may fail while the store is opened. Without a listener, its error would end the process.
      body.once('error', () => undefined);
      return use((storage) => storage.writeTemporary(body, length), body);
    },
    move: (temporaryKey, key) => use((storage) => storage.move(temporaryKey, key)),
    read: (key) => use((storage) => storage.read(key)),
    delete: (key) => use((storage) => storage.delete(key)),
    async *list() {
      yield* (await openChecked()).list();
    },
    readMarker: () => use((storage) => storage.readMarker()),
    writeMarker: (installationId) => use((storage) => storage.writeMarker(installationId)),
  };
}
