import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findBlockers, type Session } from './sessions.ts';

/** How often it looks at first, while a statement may wait for a lock that it soon gives up, and then. Milliseconds. */
const soonMs = 50;
const soonLooks = 4;
const laterMs = 1000;

/** Sees for whom a session waits, on a connection of its own: who waits can't look. */
export class BlockerWatch {
  readonly #databaseUrl: string;
  readonly #pid: number;
  readonly #onLongWait: (blockers: Session[]) => void;
  #client: pg.Client | undefined;
  #seen: Session[] = [];

  /**
   * @param pid of the session that may wait
   * @param onLongWait told every second of a wait that has lasted longer than a moment
   */
  constructor(databaseUrl: string, pid: number, onLongWait: (blockers: Session[]) => void) {
    this.#databaseUrl = databaseUrl;
    this.#pid = pid;
    this.#onLongWait = onLongWait;
  }

  /** Those that the last work waited for; none where it didn't wait, or nothing could be seen. */
  get seen(): Session[] {
    return this.#seen;
  }

  /** Looks for as long as the work takes. What it can't see changes nothing about the work. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#seen = [];
    const over = new AbortController();
    const looking = this.#look(over.signal).catch(() => undefined);
    try {
      return await work();
    } finally {
      over.abort();
      await looking;
    }
  }

  async close(): Promise<void> {
    await this.#client?.end();
  }

  async #look(over: AbortSignal): Promise<void> {
    for (let look = 1; ; look++) {
      await sleep(look <= soonLooks ? soonMs : laterMs, undefined, { signal: over });
      this.#client ??= await this.#connect();
      const blockers = await findBlockers(this.#client, this.#pid);
      if (blockers.length > 0) this.#seen = blockers;
      if (blockers.length > 0 && look > soonLooks) this.#onLongWait(blockers);
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#databaseUrl,
      application_name: 'itsm-api migrate',
      connectionTimeoutMillis: 5000,
    });
    client.on('error', () => {
      this.#client = undefined;
    });
    await client.connect();
    return client;
  }
}
