import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Alert, mergeAlerts } from './alert.ts';

/** An alert in the spool. A new notification about the alert replaces the entry and has a new id. */
export interface Entry {
  id: number;
  alert: Alert;
}

/** The size of the file that keeps space for the deletion of alerts, in bytes. */
const reserveBytes = 2 ** 20;
/** The minimum free space besides the reserve, in bytes, with which the spool stores new alerts. */
const minFreeBytes = 2 ** 18;

/** The spool has too little disk space for new alerts. */
class SpoolFullError extends Error {
  constructor() {
    super('The disk has too little free space for new alerts. Delete other files, or use a larger disk.');
  }
}

/**
 * Stores the alerts that the service doesn't have yet, each with its latest state. SQLite syncs each change to disk
 * before the method returns.
 */
export class Spool {
  readonly #database: DatabaseSync;
  readonly #folder: string;
  readonly #events = new EventEmitter();
  /** The ids of the entries that the sender processes, that the service rejected, or that are delivered. */
  readonly #claimed = new Set<number>();
  /** The ids of the entries that the service has, but that the spool couldn't delete yet. */
  readonly #delivered = new Set<number>();

  /** Opens the spool in a folder. @throws Error if the folder isn't writable, or if another program uses it */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#database = new DatabaseSync(join(folder, 'alerts.sqlite'));
    // Frequent checkpoints keep the log small, which needs disk space in addition to the database.
    this.#database.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = 100;
      CREATE TABLE IF NOT EXISTS alerts (
        id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT UNIQUE, received_at TEXT NOT NULL, alert TEXT NOT NULL)`);
    if (!this.#hasReserve()) this.#restoreReserve();
  }

  /** The number of alerts, and the number of seconds since the oldest of them arrived. */
  get backlog(): { waiting: number; oldestSeconds: number } {
    const select = this.#database.prepare(`SELECT count(*) AS waiting, min(received_at) AS oldest FROM alerts
      WHERE id NOT IN (SELECT value FROM json_each(?))`);
    const row = select.get(JSON.stringify([...this.#delivered]));
    const { waiting, oldest } = row as { waiting: number; oldest: string | null };
    return { waiting, oldestSeconds: oldest === null ? 0 : (Date.now() - Date.parse(oldest)) / 1000 };
  }

  /** Checks that the spool can store alerts, with a small write. @throws Error with the reason */
  check(): void {
    this.#checkSpace(0);
    this.#database.exec('PRAGMA user_version = 1');
  }

  /**
   * Stores alerts, and combines each with the waiting alert that has the same hash.
   * @throws SpoolFullError if the disk has too little space
   */
  put(alerts: Alert[]): void {
    this.#checkSpace(Buffer.byteLength(JSON.stringify(alerts)));
    const select = this.#database.prepare('SELECT alert FROM alerts WHERE hash = ?');
    const replace = this.#database.prepare('INSERT OR REPLACE INTO alerts (hash, received_at, alert) VALUES (?, ?, ?)');
    this.#database.exec('BEGIN');
    try {
      for (const alert of alerts) {
        const waiting = select.get(alert.hash);
        const merged = waiting ? mergeAlerts(parseAlert(waiting), alert) : alert;
        replace.run(alert.hash, merged.receivedAt, JSON.stringify(merged));
      }
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
    this.#events.emit('change');
  }

  /** Claims at most `max` entries, oldest first. Waits until there are any. @throws AbortError if the signal aborts */
  async take(max: number, signal: AbortSignal): Promise<Entry[]> {
    const select = this.#database.prepare('SELECT id, alert FROM alerts ORDER BY received_at, id LIMIT ?');
    for (;;) {
      const rows = select.all(max + this.#claimed.size).filter(({ id }) => !this.#claimed.has(Number(id)));
      const entries = rows.slice(0, max).map((row) => ({ id: Number(row.id), alert: parseAlert(row) }));
      for (const { id } of entries) this.#claimed.add(id);
      if (entries.length > 0) return entries;
      await once(this.#events, 'change', { signal });
    }
  }

  /** Makes claimed entries wait again. */
  release(entries: Iterable<Entry>): void {
    for (const { id } of entries) this.#claimed.delete(id);
    this.#events.emit('change');
  }

  /**
   * Removes claimed entries that the service has. If the disk is full, the file of the reserve makes space. If that
   * isn't enough, the entries stay claimed, so that they aren't sent again, and the spool deletes them later.
   */
  remove(entries: Entry[]): void {
    for (const { id } of entries) this.#delivered.add(id);
    this.#deleteDelivered();
  }

  close(): void {
    this.#database.close();
  }

  /**
   * Checks that the disk has space for new alerts, and restores the reserve if necessary.
   * @param bytes the size of the alerts
   * @throws SpoolFullError
   */
  #checkSpace(bytes: number): void {
    this.#deleteDelivered();
    if (this.#hasReserve() && this.#hasSpace(bytes)) return;
    // Moves the log to the database, which returns the space of the log to the disk.
    succeeds(() => this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
    if (!this.#hasReserve()) this.#restoreReserve();
    if (!this.#hasReserve() || !this.#hasSpace(bytes)) throw new SpoolFullError();
  }

  #deleteDelivered(): void {
    if (this.#delivered.size === 0) return;
    const remove = () => {
      const ids = JSON.stringify([...this.#delivered]);
      this.#database.prepare('DELETE FROM alerts WHERE id IN (SELECT value FROM json_each(?))').run(ids);
    };
    if (!succeeds(remove)) {
      rmSync(this.#reservePath, { force: true });
      if (!succeeds(remove)) return;
    }
    for (const id of this.#delivered) this.#claimed.delete(id);
    this.#delivered.clear();
  }

  get #reservePath(): string {
    return join(this.#folder, 'reserve');
  }

  #hasReserve(): boolean {
    return statSync(this.#reservePath, { throwIfNoEntry: false })?.size === reserveBytes;
  }

  /** Writes the file of the reserve. Random bytes need space also on disks that compress files. */
  #restoreReserve(): void {
    const isWritten = succeeds(() => writeFileSync(this.#reservePath, randomBytes(reserveBytes), { flush: true }));
    if (!isWritten) rmSync(this.#reservePath, { force: true });
  }

  /** Returns true if new alerts fit on the disk twice: in the log, and in the database with its unused pages. */
  #hasSpace(bytes: number): boolean {
    const { bavail, bsize } = statfsSync(this.#folder);
    const free = bavail * bsize;
    const row = this.#database
      .prepare('SELECT freelist_count * page_size AS unused FROM pragma_freelist_count, pragma_page_size')
      .get();
    const { unused } = row as { unused: number };
    // Without the smaller minimum, a disk that old alerts have filled would stay full after their deletion.
    return free >= minFreeBytes / 2 + bytes && free + unused >= minFreeBytes + 2 * bytes;
  }
}

/** Runs a function that fails if the disk is full. Returns false if it fails. */
function succeeds(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

function parseAlert(row: Record<string, unknown>): Alert {
  return Alert.parse(JSON.parse(String(row.alert)));
}
