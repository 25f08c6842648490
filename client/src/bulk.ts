import { asOutcome, createError, type ItsmError, isItsmError } from './errors.ts';
import { type ErrorDetail, limits, type UpsertOutcome } from './generated.ts';
import type { BulkPostOptions } from './options.ts';
import { randomKey } from './send.ts';

/** The result of a bulk item that succeeded. */
export interface BulkDone<Item, Row> {
  /** Whether the item succeeded. */
  ok: true;
  /** The index of the item in the input array. */
  index: number;
  /** The item that you passed to the call. */
  item: Item;
  /** The created or updated resource. */
  data: Row;
}

/** The result of a bulk item that failed or has an unknown outcome. */
export interface BulkFailed<Item> {
  /** Whether the item succeeded. */
  ok: false;
  /** The index of the item in the input array. */
  index: number;
  /** The item that you passed to the call. */
  item: Item;
  /** The error of the item, or of the request that contained the item. */
  error: ItsmError;
}

/** The result of one item of a bulk call. */
export type BulkItemResult<Item, Row> = BulkDone<Item, Row> | BulkFailed<Item>;

/** The result of a bulk call. */
export interface BulkResult<Item, Row> {
  /** The result of each item, in the order of the input. */
  results: BulkItemResult<Item, Row>[];
  /** The created or updated resources of the items that succeeded. */
  done: Row[];
  /** The items that failed. Empty if all items succeeded. */
  failed: BulkFailed<Item>[];
}

/** The result of an item whose resource was created, updated or already had all values. */
export interface UpsertDone<Item, Row> extends BulkDone<Item, Row> {
  /** What the API did with the item. */
  result: UpsertOutcome;
}

/** The result of one item of a call that creates or updates resources. */
export type UpsertItemResult<Item, Row> = UpsertDone<Item, Row> | BulkFailed<Item>;

/** The result of a call that creates or updates resources. */
export interface BulkUpsertResult<Item, Row> extends BulkResult<Item, Row> {
  /** The result of each item, in the order of the input. */
  results: UpsertItemResult<Item, Row>[];
  /** The number of items by what the API did with them. */
  counts: Record<UpsertOutcome, number>;
}

/**
 * The API's result for one item of a bulk request.
 *
 * @internal
 */
export type BulkAnswer<Row> =
  | { status: 200 | 201; result?: UpsertOutcome; data: Row }
  | { status: 400 | 404 | 412; error: { code: string; message: string; details?: ErrorDetail[]; docs?: string } };

/**
 * The endpoint of a bulk call, and the function that sends one of its requests. Each request has its own idempotency
 * key.
 *
 * @internal
 */
export interface BulkRequest<Item, Row> {
  method: string;
  path: string;
  /** The server URL, which the client prepends to the documentation path of an error. */
  baseUrl: string;
  /** The field that must differ in all items. Set for a call that creates or updates resources. */
  matchBy: string | undefined;
  send(items: Item[], idempotencyKey: string): Promise<BulkAnswer<Row>[]>;
}

/**
 * Sends the items of a bulk call in as few requests as possible.
 * @throws ItsmError if no item got a result
 *
 * @internal
 */
export async function sendBulk<Item extends object, Row>(
  request: BulkRequest<Item, Row>,
  items: readonly Item[],
  {
    idempotencyKey = randomKey(),
    concurrency = 1,
    onProgress,
    onBatch,
  }: BulkPostOptions<BulkItemResult<Item, Row>> = {},
): Promise<BulkResult<Item, Row>> {
  const input = [...items];
  // The client sends the copies, so later changes to the passed items have no effect.
  const copies: Item[] = input.map((item) => JSON.parse(JSON.stringify(item)));
  const results: BulkResult<Item, Row>['results'] = [];
  const progress = { done: 0, failed: 0, total: items.length };
  const counts: Record<UpsertOutcome, number> = { CREATED: 0, UPDATED: 0, UNCHANGED: 0 };
  let hasResponse = false;
  /**
   * The first error that is not about the sent items, for example a lost connection. After this error, the client stops
   * sending requests.
   */
  let fatalError: ItsmError | undefined;
  let firstRejection: ItsmError | undefined;

  /** Stores and reports the results of items. The function `responseOf` returns the response for the item at an offset. */
  function settle(indexes: number[], responseOf: (offset: number) => ItsmError | BulkAnswer<Row>): void {
    const batch = indexes.map((index, offset) => {
      const result = { index, item: input[index] as Item, ...toResult(responseOf(offset), request) };
      progress[result.ok ? 'done' : 'failed'] += 1;
      if (result.ok && result.result) counts[result.result] += 1;
      results[index] = result;
      return result;
    });
    onProgress?.({ ...progress });
    onBatch?.(batch);
  }

  async function sendChunk(indexes: number[]): Promise<void> {
    const [from = 0] = indexes;
    const key = `${idempotencyKey}:${from}-${from + indexes.length}`;
    const chunk = indexes.map((index) => copies[index] as Item);
    const responses = fatalError ?? (await request.send(chunk, key).catch(asOutcome));
    if (!(responses instanceof Error)) hasResponse = true;
    else if (responses.code === 'PAYLOAD_TOO_LARGE' && indexes.length > 1) {
      const middle = Math.ceil(indexes.length / 2);
      await sendChunk(indexes.slice(0, middle));
      return sendChunk(indexes.slice(middle));
    } else if (responses.status === 400 || responses.status === 413) firstRejection ??= responses;
    else fatalError ??= responses;
    // The cast is safe, because the contract guarantees one result for each item of the request.
    settle(indexes, (offset) => (responses instanceof Error ? responses : (responses[offset] as BulkAnswer<Row>)));
  }

  const chunks = split(copies, request.matchBy, (index, message) => {
    settle([index], () => ({ status: 400, error: { code: 'VALIDATION_ERROR', message } }));
  });
  const unsent = chunks.values();
  async function work(): Promise<void> {
    for (const chunk of unsent) await sendChunk(chunk);
  }
  // A concurrency of 0 or NaN would start no worker, and the call would succeed without sending the items.
  await Promise.all(chunks.slice(0, Math.max(1, concurrency || 1)).map(work));

  const error = firstRejection ?? fatalError;
  if (!hasResponse && error) throw error;
  return {
    results,
    done: results.flatMap((result) => (result.ok ? [result.data] : [])),
    failed: results.filter((result) => !result.ok),
    ...(request.matchBy && { counts }),
  };
}

/**
 * Divides the items into chunks of indexes. The client sends each chunk in one request, so a chunk has as many items as a
 * request allows. If an item's id is already in the chunk, the item starts a new chunk, because the API rejects duplicate
 * ids in a request.
 * @param reject called with the index and the error message of each item with the same value in the match field as an
 * earlier item. The chunks don't contain these items, because one would overwrite the other.
 */
function split(
  items: readonly { id?: unknown }[],
  matchBy = '',
  reject: (index: number, message: string) => void,
): number[][] {
  const chunks: number[][] = [];
  let bytes = 0;
  let ids = new Set<unknown>();
  const firsts = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    const given = (item as Record<string, unknown>)[matchBy];
    // The API also normalizes the value. White space around it is frequent in the texts of firmware.
    const value = given == null ? item : String(given).trim().normalize();
    const first = firsts.get(value);
    if (first !== undefined) {
      reject(index, `${matchBy} ${value} is a duplicate of the item with index ${first}.`);
      continue;
    }
    firsts.set(value, index);
    const size = new TextEncoder().encode(JSON.stringify(item)).length + 1;
    const id = item.id ?? index;
    const last = chunks.at(-1);
    bytes += size;
    if (last && bytes <= limits.bodyBytes - 100 && last.length < limits.bulkItems && !ids.has(id)) {
      last.push(index);
    } else {
      chunks.push([index]);
      bytes = size;
      ids = new Set();
    }
    ids.add(id);
  }
  return chunks;
}

function toResult<Item, Row>(
  response: BulkAnswer<Row> | ItsmError,
  { method, path, baseUrl }: BulkRequest<Item, Row>,
): { ok: true; data: Row; result: UpsertOutcome | undefined } | { ok: false; error: ItsmError } {
  if (isItsmError(response)) return { ok: false, error: response };
  if (response && 'data' in response) return { ok: true, data: response.data, result: response.result };
  const { message, docs, ...error } = response?.error ?? {
    message: 'The item has no result: check before you retry it.',
    code: 'UNEXPECTED_ANSWER',
  };
  const failure = { ...error, method, path, status: response?.status, docs: docs && baseUrl + docs };
  return { ok: false, error: createError(message, failure) };
}
