import { EventEmitter, once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Alert, mergeAlerts } from './alert.ts';

/** An alert in the spool. A new notification about the alert replaces the entry and has a new id. */
export interface Entry {
  id: number;
  alert: Alert;
}

/**
 * Stores the alerts that the service doesn't have yet, each with its latest state. SQLite syncs each change to disk
 * before the method returns.
 */
export class Spool {
  readonly #database: DatabaseSync;
  readonly #events = new EventEmitter();
  /** The ids of the entries that the sender processes, or that the service rejected. */
  readonly #claimed = new Set<number>();

  /** Opens the spool in a folder. @throws Error if the folder isn't writable, or if another program uses it */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#database = new DatabaseSync(join(folder, 'alerts.sqlite'));
    this.#database.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      CREATE TABLE IF NOT EXISTS alerts (
        id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT UNIQUE, received_at TEXT NOT NULL, alert TEXT NOT NULL)`);
  }

  /** The number of alerts, and the number of seconds since the oldest of them arrived. */
  get backlog(): { waiting: number; oldestSeconds: number } {
    const row = this.#database.prepare('SELECT count(*) AS count, min(received_at) AS oldest FROM alerts').get();
    const { count, oldest } = row as { count: number; oldest: string | null };
    return { waiting: count, oldestSeconds: oldest === null ? 0 : (Date.now() - Date.parse(oldest)) / 1000 };
  }

  /** Stores alerts, and combines each with the waiting alert that has the same hash. @throws Error if the disk is full */
  put(alerts: Alert[]): void {
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
    this.#events.emit('put');
  }

  /** Claims at most `max` entries, oldest first. Waits until there are any. @throws AbortError if the signal aborts */
  async take(max: number, signal: AbortSignal): Promise<Entry[]> {
    const select = this.#database.prepare('SELECT id, alert FROM alerts ORDER BY received_at, id LIMIT ?');
    for (;;) {
      const rows = select.all(max + this.#claimed.size).filter(({ id }) => !this.#claimed.has(Number(id)));
      const entries = rows.slice(0, max).map((row) => ({ id: Number(row.id), alert: parseAlert(row) }));
      for (const { id } of entries) this.#claimed.add(id);
      if (entries.length > 0) return entries;
      await once(this.#events, 'put', { signal });
    }
  }

  /** Makes claimed entries wait again. */
  release(entries: Iterable<Entry>): void {
    for (const { id } of entries) this.#claimed.delete(id);
  }

  /** Removes claimed entries. */
  remove(entries: Entry[]): void {
    const remove = this.#database.prepare('DELETE FROM alerts WHERE id IN (SELECT value FROM json_each(?))');
    remove.run(JSON.stringify(entries.map(({ id }) => id)));
    this.release(entries);
  }

  close(): void {
    this.#database.close();
  }
}

function parseAlert(row: Record<string, unknown>): Alert {
  return Alert.parse(JSON.parse(String(row.alert)));
}
