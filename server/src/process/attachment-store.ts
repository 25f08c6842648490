import type { Readable } from 'node:stream';
import type { SystemDoor } from '../database/client/door.ts';
import { sql } from '../database/client/sql.ts';
import { allTenants, type None } from '../database/client/statements.ts';
import { ApiError, formatSeconds, MissingFileError } from '../shared/errors.ts';
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

const selectInstallation = allTenants.rows<None, Omit<StoreMarker, 'found'>>(
  () => sql`SELECT installation_id AS "installationId", attachments_marked_at IS NOT NULL AS "isMarked"
    FROM installation`,
);
const lockStore = allTenants.rows<None, object>(
  () => sql`SELECT pg_advisory_xact_lock(hashtextextended('attachment store', 0))`,
);
const setMarked = allTenants.command<None>(() => sql`UPDATE installation SET attachments_marked_at = now()`);

/** Reads the marker of a store without changing it. */
export async function readStoreMarker(system: SystemDoor, storage: AttachmentStorage): Promise<StoreMarker> {
  const [installation] = await system.$sql(selectInstallation);
  if (installation === undefined) throw new Error('The database has no installation id.');
  return { ...installation, found: await storage.readMarker() };
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
 * @returns the id of the installation
 * @throws StoreMismatchError if the store belongs to another installation
 */
function markStore(system: SystemDoor, storage: AttachmentStorage): Promise<string> {
  // A command may use the store for the first time in its own transaction.
  return system.$ownTransaction(async () => {
    await system.$sql(lockStore);
    const marker = await readStoreMarker(system, storage);
    checkStoreMarker(marker);
    if (!marker.isMarked) {
      await storage.writeMarker(marker.installationId);
      await system.$sql(setMarked);
    }
    return marker.installationId;
  });
}

const retryAfterSeconds = 30;

interface StoreOptions {
  system: SystemDoor;
  /** Opens the storage. Called on the first use. */
  open: () => Promise<AttachmentStorage>;
  /** Called with each error of the store. */
  onFailure: (error: Error) => void;
}

/**
 * Returns a storage that opens and marks the store on its first use, and checks the marker before each change of a file,
 * because a network drive can vanish while the process runs. While the store is unavailable or belongs to another
 * installation, each method rejects with ApiError SERVICE_UNAVAILABLE, and the next call checks again.
 */
export function protectStorage({ system, open, onFailure }: StoreOptions): AttachmentStorage {
  const openMarked = lazy(async () => {
    const storage = await open();
    return { storage, installationId: await markStore(system, storage) };
  });
  let checked: { at: number; result: Promise<void> } | undefined;
  const check = async () => {
    const { storage, installationId } = await openMarked();
    if (checked === undefined || performance.now() - checked.at >= storage.markerMaxAgeMs) {
      const result = storage
        .readMarker()
        .then((found) => checkStoreMarker({ installationId, isMarked: true, found }))
        .catch((error: unknown) => {
          checked = undefined;
          throw error;
        });
      checked = { at: performance.now(), result };
    }
    await checked.result;
    return storage;
  };
  type Work<Result> = (storage: AttachmentStorage) => Promise<Result>;
  const protect = async <Result>(work: () => Promise<Result>, body?: Readable): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      // An interrupted upload and a missing file are not errors of the store.
      if (body?.errored || error instanceof MissingFileError) throw error;
      onFailure(error as Error);
      const message = `The attachment store is unavailable. Retry in ${formatSeconds(retryAfterSeconds)}.`;
      throw new ApiError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds });
    }
  };
  const use = <Result>(work: Work<Result>) => protect(async () => work((await openMarked()).storage));
  const change = <Result>(work: Work<Result>, body?: Readable) => protect(async () => work(await check()), body);
  return {
    writeTemporary(body, length) {
      // The body may fail while the store is opened. Without a listener, its error would end the process.
      body.once('error', () => undefined);
      return change((storage) => storage.writeTemporary(body, length), body);
    },
    move: (temporaryKey, key) => change((storage) => storage.move(temporaryKey, key)),
    read: (key) =>
      use((storage) =>
        storage.read(key).catch(async (error: unknown) => {
          // If the whole store is missing, the check rejects.
          if (error instanceof MissingFileError) await check();
          throw error;
        }),
      ),
    delete: (key) => change((storage) => storage.delete(key)),
    async *list() {
      yield* (await change(async (storage) => storage)).list();
    },
    readMarker: () => use((storage) => storage.readMarker()),
    writeMarker: (installationId) => use((storage) => storage.writeMarker(installationId)),
    markerMaxAgeMs: 0,
  };
}
