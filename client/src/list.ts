import { ApiPromise, type ApiResponse } from './api-promise.ts';
import { checkNumbers } from './attempt.ts';
import { createError, isItsmError } from './errors.ts';
import type { PageMeta } from './generated.ts';

/** Rows on a page of a walk, unless the query says otherwise: as many as the API gives. */
const walkPerPage = 100;

/** One page of a list. */
export interface Page<Row> {
  /** The rows of the page. */
  data: Row[];
  /** Which page it is, and how many rows there are in all. */
  meta: PageMeta;
  /** Whether there is a page after this one. */
  hasNext: boolean;
  /** Reads the page after this one; resolves to undefined after the last. */
  next(): Promise<Page<Row> | undefined>;
}

/** A row of a list. */
export interface Identified {
  /** Names it among all of its kind. */
  id: number;
}

/** What is said of an array of rows. */
export interface ArrayOptions {
  /** How many rows at most; all unless it is given. */
  limit?: number | undefined;
}

/** What a list takes, whatever its filters. */
interface PageQuery {
  /** The first page. */
  page?: number | string | undefined;
  /** Rows on a page. */
  perPage?: number | string | undefined;
}

/**
 * Reads a page.
 *
 * @internal
 */
export type ReadPage<Row> = (query: object) => Promise<ApiResponse<{ data: Row[]; meta: PageMeta }>>;

/**
 * A list: awaited, it is one page; iterated, it is every row from there to the end.
 * Nothing is sent before it is one or the other.
 *
 * @example
 * const page = await client.tickets.list({ status: 'OPEN' });
 * for await (const ticket of client.tickets.list({ status: 'OPEN' })) console.log(ticket.id);
 */
export class ApiList<Row extends Identified> extends ApiPromise<Page<Row>> implements AsyncIterable<Row> {
  readonly #query: PageQuery;
  readonly #read: (query: PageQuery) => Promise<ApiResponse<Page<Row>>>;
  readonly #path: () => string;

  /** @internal */
  constructor(read: ReadPage<Row>, query: PageQuery = {}, path = () => '') {
    const readPage = async (asked: PageQuery): Promise<ApiResponse<Page<Row>>> => {
      const { data: rows, ...response } = await read(asked);
      return { ...response, data: toPage(rows, (page) => readPage({ ...asked, page })) };
    };
    super(() => readPage(query));
    this.#query = query;
    this.#read = readPage;
    this.#path = path;
  }

  /**
   * Every row from the page asked for to the end; a row seen before is left out. Where the API tells no more of a list than
   * it has counted (`meta.totalCountCapped`), it ends with a `QueryTooBroadError` after those.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /**
   * Every page from the one asked for to the end, of 100 rows unless `perPage` says otherwise. Rows that others'
   * inserting has moved from one page to the next come once.
   *
   * @example
   * for await (const page of client.tickets.list().pages()) console.log(page.data.length, page.meta.totalCount);
   */
  async *pages(): AsyncGenerator<Page<Row>, void, undefined> {
    const seen = new Set<number>();
    const perPage = this.#query.perPage ?? walkPerPage;
    for (let page = Number(this.#query.page ?? 1), more = true; more; page += 1) {
      const { data } = await this.#read({ ...this.#query, page, perPage }).catch((error: unknown) => {
        if (isItsmError(error)) error.page = page;
        throw error;
      });
      more = data.hasNext;
      yield { ...data, data: data.data.filter(({ id }) => seen.size < seen.add(id).size) };
      // Who reads all would take them for all that there are.
      if (!more && data.meta.totalCountCapped) {
        throw createError('There may be more: narrow the filters.', {
          code: 'QUERY_TOO_BROAD',
          method: 'GET',
          path: this.#path(),
        });
      }
    }
  }

  /**
   * The rows as an array, at most `limit` of them.
   *
   * @example
   * const newest = await client.tickets.list({ status: 'OPEN' }).toArray({ limit: 500 });
   */
  async toArray({ limit = Number.POSITIVE_INFINITY }: ArrayOptions = {}): Promise<Row[]> {
    checkNumbers({ limit });
    const rows: Row[] = [];
    if (limit <= 0) return rows;
    for await (const row of this) {
      if (rows.push(row) >= limit) break;
    }
    return rows;
  }
}

function toPage<Row>(
  { data, meta }: { data: Row[]; meta: PageMeta },
  read: (page: number) => Promise<ApiResponse<Page<Row>>>,
): Page<Row> {
  const hasNext = meta.page * meta.perPage < meta.totalCount;
  return {
    data,
    meta,
    hasNext,
    next: async () => (hasNext ? (await read(meta.page + 1)).data : undefined),
  };
}
