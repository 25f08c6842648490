import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './connection.ts';
import { findBlockers, type Session } from './sessions.ts';
import { SilenceWatch } from './silence-watch.ts';

/** How often it looks at first, while a statement may wait for a lock that it soon gives up, and then. Milliseconds. */
const soonMs = 50;
const soonLooks = 4;
const laterMs = 1000;

/** How long a look may take: when the work is done, its last look is waited for. Milliseconds. */
const timeouts = { statementMs: 1000, lockMs: 1000 };

/** Sees for whom a session waits, on a connection of its own: who waits can't look. */
export class BlockerWatch {
  readonly #databaseUrl: string;
  readonly #pid: number;
  readonly #onLongWait: (blockers: Session[]) => void;
  readonly #silenceWatch = new SilenceWatch();
  #connection: Connection | undefined;
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

  close(): void {
    this.#leave();
    this.#silenceWatch.close();
  }

  async #look(over: AbortSignal): Promise<void> {
    for (let look = 1; ; look++) {
      await sleep(look <= soonLooks ? soonMs : laterMs, undefined, { signal: over });
      const blockers = await this.#findBlockers();
      if (blockers.length > 0) this.#seen = blockers;
      if (blockers.length > 0 && look > soonLooks) this.#onLongWait(blockers);
    }
  }

  /** None where it can't look: the next look is on another connection. */
  async #findBlockers(): Promise<Session[]> {
    try {
      this.#connection ??= await this.#connect();
      return await findBlockers(this.#connection, this.#pid);
    } catch {
      this.#leave();
      return [];
    }
  }

  async #connect(): Promise<Connection> {
    const connection = new Connection({
      connectionString: this.#databaseUrl,
      application_name: 'itsm-api migrate',
      timeouts,
      watch: this.#silenceWatch,
    });
    await connection.connect();
    return connection;
  }

  #leave(): void {
    this.#connection?.sever('Nobody is looked for any more.');
    this.#connection = undefined;
  }
}
