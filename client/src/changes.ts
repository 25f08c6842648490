import { ApiPromise, type ApiResponse } from './api-promise.ts';
import { checkNumbers } from './attempt.ts';
import { isItsmError, isPassing } from './errors.ts';
import type { ChangesMeta, ChangesQuery } from './generated.ts';
import { sleep } from './wait.ts';

/** Rows that have changed, in the order of their last change. */
export interface ChangesPage<Row> {
  /** The rows at their newest state, in the order of their last change. */
  data: Row[];
  /** The cursor after this page, and whether there is more already. */
  meta: ChangesMeta;
}

/** Where to begin with what has changed, and whether to stay. */
export interface FollowQuery extends ChangesQuery {
  /** Whether iterating goes on at the present, for what is yet to change, until it is left or its signal aborts. */
  follow?: boolean | undefined;
  /** While following, how long to wait at the present before asking again, in milliseconds. 10,000 by default. */
  pollMs?: number | undefined;
}

/**
 * Reads a page.
 *
 * @internal
 */
export type ReadChanges<Row> = (query: ChangesQuery) => Promise<ApiResponse<ChangesPage<Row>>>;

/**
 * What has changed: awaited, it is one page; iterated, it is every row up to the present, and with `follow` beyond.
 * Nothing is sent before it is one or the other.
 *
 * @example
 * const changes = client.tickets.changes({ since: '2026-11-20T10:00:00Z' });
 * for await (const ticket of changes) console.log(ticket.ticketNumber, ticket.status);
 * console.log(`Go on from ${changes.cursor}`);
 */
export class ApiChanges<Row> extends ApiPromise<ChangesPage<Row>> implements AsyncIterable<Row> {
  readonly #read: ReadChanges<Row>;
  readonly #query: FollowQuery;
  readonly #signal: AbortSignal | undefined;
  readonly #path: string;
  #cursor: string | undefined;

  /** @internal */
  constructor(read: ReadChanges<Row>, { follow, pollMs, ...query }: FollowQuery, path: string, signal?: AbortSignal) {
    super(() => read(query));
    this.#read = read;
    this.#query = { ...query, follow, pollMs };
    this.#path = path;
    this.#signal = signal;
    this.#cursor = query.cursor;
  }

  /**
   * Where to go on: after the last page whose rows were all taken. Keep it, and give it to `changes({ cursor })`, now or
   * tomorrow: nothing is missed.
   */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** Every row that has changed, in the order of the last changes. A row may come twice, and none is missed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /**
   * Every page; `meta.nextCursor` is where to go on after it. While following, an outage is waited out.
   *
   * @example
   * for await (const { data, meta } of client.tickets.changes({ cursor, follow: true }).pages()) {
   *   for (const ticket of data) await save(ticket);
   *   await keep(meta.nextCursor);
   * }
   */
  async *pages(): AsyncGenerator<ChangesPage<Row>, void, undefined> {
    checkNumbers(this.#query);
    const { follow = false, pollMs = 10_000, since, ...rest } = this.#query;
    try {
      for (;;) {
        const from = this.#cursor === undefined ? { since } : { cursor: this.#cursor };
        const page = await this.#read({ ...rest, ...from }).catch((error: unknown) => {
          if (follow && isItsmError(error) && isPassing(error)) return undefined;
          throw error;
        });
        if (page !== undefined) {
          yield page.data;
          this.#cursor = page.data.meta.nextCursor;
        }
        if (page?.data.meta.hasMore) continue;
        if (!follow) return;
        await sleep(pollMs, this.#signal, { method: 'GET', path: this.#path });
      }
    } catch (error) {
      if (isItsmError(error)) error.cursor = this.#cursor;
      throw error;
    }
  }
}
