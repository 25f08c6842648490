import { ApiPromise, type ApiResponse } from './api-promise.ts';
import { checkNumbers } from './attempt.ts';
import { createError, isItsmError } from './errors.ts';
import type { PageMeta } from './generated.ts';

/** The number of rows per page in an iteration, if the query doesn't set `perPage`. The API allows at most 100. */
const iterationPerPage = 100;

/** One page of a list. */
export interface Page<Row> {
  /** The rows of the page. */
  data: Row[];
  /** The page number, and the total number of rows. */
  meta: PageMeta;
  /** Whether the list has a next page. */
  hasNext: boolean;
  /** Fetches the next page. Resolves to undefined after the last page. */
  next(): Promise<Page<Row> | undefined>;
}

/**
 * A row of a list. The id is unique among all rows of the same type. Without ids, the client can't detect repeated rows.
 */
export type Identified =
  | {
      /** The id of the row. */
      id: number | string;
    }
  | {
      /** Definitions of custom fields have no id. */
      id?: never;
      /** The key of the definition. */
      key: string;
    };

/** The options of `ApiList.toArray`. */
export interface ArrayOptions {
  /** Maximum number of rows. Default: all rows. */
  limit?: number | undefined;
}

/** The query parameters that all lists accept. */
interface PageQuery {
  /** The number of the first page to fetch. */
  page?: number | string | undefined;
  /** Maximum number of rows per page. */
  perPage?: number | string | undefined;
}

/**
 * Fetches a page of a list.
 *
 * @internal
 */
export type ReadPage<Row> = (query: object) => Promise<ApiResponse<{ data: Row[]; meta: PageMeta }>>;

/**
 * A list. To fetch the requested page, await the list. To fetch the requested page and all later pages, iterate over
 * the list. The client sends no request before you await the list or iterate over it.
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
    const readPage = async (pageQuery: PageQuery): Promise<ApiResponse<Page<Row>>> => {
      const { data: rows, ...response } = await read(pageQuery);
      return { ...response, data: toPage(rows, (page) => readPage({ ...pageQuery, page })) };
    };
    super(() => readPage(query));
    this.#query = query;
    this.#read = readPage;
    this.#path = path;
  }

  /**
   * Iterates over all rows, starting at the requested page. Returns each row only once. If the list has more rows than
   * the API returns (`meta.totalCountCapped`), the iteration throws a `QueryTooBroadError` after the last available
   * row.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /**
   * Iterates over all pages, starting at the requested page. By default, a page has 100 rows. If new rows move a row to
   * a later page, the client returns this row only once.
   *
   * @example
   * for await (const page of client.tickets.list().pages()) console.log(page.data.length, page.meta.totalCount);
   */
  async *pages(): AsyncGenerator<Page<Row>, void, undefined> {
    const seen = new Set<unknown>();
    const perPage = this.#query.perPage ?? iterationPerPage;
    for (let page = Number(this.#query.page ?? 1), more = true; more; page += 1) {
      const { data } = await this.#read({ ...this.#query, page, perPage }).catch((error: unknown) => {
        if (isItsmError(error)) error.page = page;
        throw error;
      });
      more = data.hasNext;
      yield { ...data, data: data.data.filter(({ id }) => seen.size < seen.add(id ?? {}).size) };
      // Without this error, the program couldn't detect that the list is incomplete.
      if (!more && data.meta.totalCountCapped) {
        throw createError('There may be more rows. Narrow the filters.', {
          code: 'QUERY_TOO_BROAD',
          method: 'GET',
          path: this.#path(),
        });
      }
    }
  }

  /**
   * Fetches the rows of the list, and returns them as an array. Stops after `limit` rows.
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
