import { ApiPromise, type ApiResponse } from './api-promise.ts';
import { checkNumbers } from './attempt.ts';
import { isItsmError } from './errors.ts';
import type { ChangesMeta, ChangesQuery } from './generated.ts';
import type { CallOptions } from './options.ts';
import { sleep } from './wait.ts';

/** A page of the change feed. */
export interface ChangesPage<Row> {
  /** The current version of each changed row, ordered by the time of the last change. */
  data: Row[];
  /** The cursor of the next page, and whether more changes are available now. */
  meta: ChangesMeta;
}

/** The query of a change feed: where the feed starts, and whether the client waits for future changes. */
export interface FollowQuery extends ChangesQuery {
  /** Whether the iteration waits for future changes until you leave the loop or abort the `signal`. */
  follow?: boolean | undefined;
  /** If `follow` is true, the time in milliseconds between two requests for new changes. Default: 10,000. */
  pollMs?: number | undefined;
}

/**
 * Fetches a page of the change feed.
 *
 * @internal
 */
export type ReadChanges<Row> = (
  query: ChangesQuery,
  options?: CallOptions | false,
) => Promise<ApiResponse<ChangesPage<Row>>>;

/** The options of requests that continue until the server is available. */
const untilAvailable = { maxRetries: Number.POSITIVE_INFINITY, maxWaitMs: Number.POSITIVE_INFINITY };

/**
 * A change feed. Await the feed to fetch one page, or iterate over it to fetch all changes so far. With `follow`, the
 * iteration continues with future changes. The client sends no request before you await the feed or iterate over it.
 *
 * @example
 * const changes = client.tickets.changes({ since: '2026-11-20T10:00:00Z' });
 * for await (const ticket of changes) console.log(ticket.ticketNumber, ticket.status);
 * console.log(`Continue from ${changes.cursor}`);
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
   * The cursor after the last page that your loop has completed. To continue later, store this cursor and
   * pass it to `changes({ cursor })`.
   */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** Iterates over all changed rows, in the order of their last change. A row can appear more than once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /**
   * Iterates over the pages of the change feed. `meta.nextCursor` is the cursor of the next page. With `follow`, the
   * client keeps retrying during an outage.
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
        const { data } = await this.#read({ ...rest, ...from }, follow && untilAvailable);
        yield data;
        this.#cursor = data.meta.nextCursor;
        if (data.meta.hasMore) continue;
        if (!follow) return;
        await sleep(pollMs, this.#signal, { method: 'GET', path: this.#path });
      }
    } catch (error) {
      if (isItsmError(error)) error.cursor = this.#cursor;
      throw error;
    }
  }
}
