import type { Readable } from 'node:stream';
import { attachmentsDirectory, type Settings } from '../config/env.ts';
import type { SystemClient } from '../database/client/prisma.ts';
import { sql } from '../database/client/sql.ts';
import { allTenants, type None } from '../database/client/statements.ts';
import { ApiError, formatSeconds, MissingFileError } from '../shared/errors.ts';
import { lazy } from '../shared/lazy.ts';
import type { AttachmentStorage } from '../storage/attachment-storage.ts';

/*
 * Ensures that a process uses only the store of attachments that belongs to its database
 * (docs/decisions/attachments-design.md, "Storage").
 */

/** The error for a store that doesn't belong to the installation of the database. */
export class StoreMismatchError extends Error {
  override name = 'StoreMismatchError';
  /** Whether the store has the id of another installation. Otherwise, it has no id, like an unmounted network drive. */
  readonly isForeign: boolean;

  constructor(message: string, isForeign: boolean) {
    super(message);
    this.isForeign = isForeign;
  }
}

/** What the database contains about the store. */
interface Installation {
  /** The id of the installation. */
  installationId: string;
  /** Whether a process of this installation has marked its store. */
  isMarked: boolean;
  hasAttachments: boolean;
}

/** The store of attachments that an installation uses. */
export interface Store extends Installation {
  storage: AttachmentStorage;
  /** The absolute path of the folder, or undefined for a bucket. */
  directory: string | undefined;
  /** The installation id in the store, or undefined if the store has no marker. */
  found: string | undefined;
  /** Why the store isn't the default folder, or undefined. */
  notice: string | undefined;
}

const selectInstallation = allTenants.rows<None, Installation>(
  () => sql`SELECT installation_id AS "installationId", attachments_marked_at IS NOT NULL AS "isMarked",
      EXISTS (SELECT FROM attachments) AS "hasAttachments" FROM installation`,
);
const lockStore = allTenants.rows<None, object>(
  () => sql`SELECT pg_advisory_xact_lock(hashtextextended('attachment store', 0))`,
);
const setMarked = allTenants.command<None>(() => sql`UPDATE installation SET attachments_marked_at = now()`);

/**
 * Finds the store of an installation, without changing it. If the default folder belongs to another installation, such
 * as the embedded PostgreSQL of a trial, the store is the folder `attachments-<id>` beside it. If the database already
 * has attachments, that folder must have the id of the installation.
 */
export async function findStore(system: SystemClient, settings: Settings): Promise<Store> {
  // Loads FlyDrive on the first use, because most commands need no files.
  const { openAttachmentStorage } = await import('../storage/attachment-storage.ts');
  const [installation] = await system.$sql(selectInstallation);
  if (installation === undefined) throw new Error('The database has no installation id.');
  const { installationId, hasAttachments } = installation;
  const open = async (given: Settings, notice?: string): Promise<Store> => {
    const storage = await openAttachmentStorage(given);
    return {
      ...{ ...installation, storage, notice },
      ...{ directory: attachmentsDirectory(given), found: await storage.readMarker() },
    };
  };
  const store = await open(settings);
  const { directory, found } = store;
  if (directory === undefined || settings.ATTACHMENTS_DIR !== undefined || found === installationId) return store;
  const ATTACHMENTS_DIR = `${directory}-${installationId}`;
  const own = await open(
    { ...settings, ATTACHMENTS_DIR },
    `Attachments are stored in ${ATTACHMENTS_DIR}, because ${directory} doesn't belong to this installation.`,
  );
  if (own.found === installationId) return own;
  return found === undefined || hasAttachments ? store : { ...own, isMarked: false };
}

/** Checks the marker of a store. @throws StoreMismatchError if the store belongs to another installation */
export function checkStore({ installationId, isMarked, found, directory }: Store): void {
  if (found === installationId || (found === undefined && !isMarked)) return;
  const problem =
    found === undefined
      ? `The attachment store lacks the file installation-id, so it isn't the store that this database uses`
      : `The attachment store belongs to another installation (${found})`;
  const setting = directory === undefined ? 'ATTACHMENTS_S3_BUCKET' : `ATTACHMENTS_DIR (now ${directory})`;
  throw new StoreMismatchError(
    `${problem}. The id of this installation is ${installationId}. Check ${setting}.`,
    found !== undefined,
  );
}

/**
 * Finds the store of an installation and checks its marker. If the installation has no store yet, marks the store first.
 * An advisory lock prevents two processes with different stores from both marking theirs. A row lock would hold back all
 * change feeds while the store responds.
 * @throws StoreMismatchError if the store belongs to another installation
 */
function openMarkedStore(system: SystemClient, find: () => Promise<Store>): Promise<Store> {
  // A command may use the store for the first time in its own transaction.
  return system.$ownTransaction(async () => {
    await system.$sql(lockStore);
    const store = await find();
    checkStore(store);
    if (!store.isMarked) {
      await store.storage.writeMarker(store.installationId);
      await system.$sql(setMarked);
    }
    return { ...store, isMarked: true };
  });
}

const retryAfterSeconds = 30;

interface StoreOptions {
  system: SystemClient;
  /** Finds the store. Called on the first use, and again after a failure. */
  find: () => Promise<Store>;
  /** Called with each error of the store. */
  onFailure: (error: Error) => void;
  /** Called with the notice of the store, if it has one. */
  onNotice?: ((notice: string) => void) | undefined;
}

/**
 * Returns a storage that opens and marks the store on its first use, and checks the marker before each change of a file,
 * because a network drive can vanish while the process runs. While the store is unavailable or belongs to another
 * installation, each method rejects with ApiError SERVICE_UNAVAILABLE, and the next call checks again.
 */
export function protectStorage({ system, find, onFailure, onNotice }: StoreOptions): AttachmentStorage {
  const openMarked = lazy(async () => {
    const store = await openMarkedStore(system, find);
    if (store.notice !== undefined) onNotice?.(store.notice);
    return store;
  });
  let checked: { at: number; result: Promise<void> } | undefined;
  const check = async () => {
    const store = await openMarked();
    const { storage } = store;
    if (checked === undefined || performance.now() - checked.at >= storage.markerMaxAgeMs) {
      const result = storage
        .readMarker()
        .then((found) => checkStore({ ...store, found }))
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
      // A retry can't help until an operator changes the settings.
      if (error instanceof StoreMismatchError && error.isForeign) {
        const next = 'Report this to the operator of the server.';
        throw new ApiError('SERVICE_UNAVAILABLE', `The attachment store belongs to another installation. ${next}`);
      }
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
