import pg from 'pg';

interface SharedConnection {
  client: pg.Client;
  connected: Promise<unknown>;
  /** How many wait for an answer on it. */
  waiting: number;
}

/**
 * Connections that many queries share at once: each is sent behind those before it, without waiting for their answers.
 * Both ends are woken less often, which is a third of their work (docs/decisions/totals.md).
 */
export class SharedConnections {
  readonly #config: pg.ClientConfig;
  readonly #max: number;
  readonly #onError: (error: Error) => void;
  readonly #open = new Set<SharedConnection>();
  #questions = 0;

  /** @param onError told when a connection breaks; another one is made when it is needed */
  constructor({ max, ...config }: pg.ClientConfig & { max: number }, onError: (error: Error) => void) {
    // Probed when idle: whatever stands between would forget a connection in silence, and the next query would hang.
    this.#config = { ...config, pipeline: true, keepAlive: true, keepAliveInitialDelayMillis: 10_000 };
    this.#max = max;
    this.#onError = onError;
  }

  /**
   * The one row that answers a query. Others wait behind it: it must be done in milliseconds and wait for no lock.
   * @param query its text has one parameter more than `values`, a number, which it answers as `question`
   * @throws when the answer is to another question: nobody is given what somebody else asked for
   */
  async ask<Row extends object>(query: { name: string; text: string; values: unknown[] }): Promise<Row> {
    this.#questions = (this.#questions + 1) % 2 ** 31;
    const question = this.#questions;
    const connection = this.#leastBusy();
    connection.waiting++;
    try {
      await connection.connected;
      const values = [...query.values, question];
      const { rows } = await connection.client.query<Row & { question: number }>({ ...query, values });
      const [row] = rows;
      if (row?.question === question) return row;
      this.#retire(connection);
      throw new Error(`PostgreSQL was asked question ${question} and answered ${row?.question}.`);
    } finally {
      connection.waiting--;
    }
  }

  /** Resolves when all that was asked has been answered. */
  async end(): Promise<void> {
    await Promise.all([...this.#open].map((connection) => this.#retire(connection)));
  }

  #leastBusy(): SharedConnection {
    let least: SharedConnection | undefined;
    for (const connection of this.#open) {
      if (connection.waiting < (least?.waiting ?? Number.POSITIVE_INFINITY)) least = connection;
    }
    const isFull = this.#open.size >= this.#max;
    return least !== undefined && (isFull || least.waiting === 0) ? least : this.#connect();
  }

  #connect(): SharedConnection {
    const client = new pg.Client(this.#config);
    const connection = { client, connected: client.connect(), waiting: 0 };
    client.on('error', (error) => {
      this.#retire(connection);
      this.#onError(error);
    });
    connection.connected.catch(() => this.#retire(connection));
    this.#open.add(connection);
    return connection;
  }

  /** Asks nothing more on it; it ends when all that was asked has been answered. */
  async #retire(connection: SharedConnection): Promise<void> {
    if (this.#open.delete(connection)) await connection.client.end();
  }
}
