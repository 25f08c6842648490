import { asOutcome, createError, type ItsmError, isItsmError } from './errors.ts';
import { type ErrorDetail, limits } from './generated.ts';
import type { BulkPostOptions } from './options.ts';
import { randomKey } from './send.ts';

/** An item that was done. */
export interface BulkDone<Item, Row> {
  /** Whether it was done. */
  ok: true;
  /** Its place among the items. */
  index: number;
  /** What was given. */
  item: Item;
  /** The row as it is now. */
  data: Row;
}

/** An item that was refused, or of which nobody knows whether it was done. */
export interface BulkFailed<Item> {
  /** Whether it was done. */
  ok: false;
  /** Its place among the items. */
  index: number;
  /** What was given. */
  item: Item;
  /** Why: as the call for this item alone would have been rejected, or the failure of the request it was in. */
  error: ItsmError;
}

/** What became of many items. */
export interface BulkResult<Item, Row> {
  /** What became of each item, in their order. */
  results: (BulkDone<Item, Row> | BulkFailed<Item>)[];
  /** The rows of those that were done. */
  done: Row[];
  /** Those that were not; empty when all is well. */
  failed: BulkFailed<Item>[];
}

/**
 * What the API answers for one item.
 *
 * @internal
 */
export type BulkAnswer<Row> =
  | { status: 200 | 201; data: Row }
  | { status: 400 | 404; error: { code: string; message: string; details?: ErrorDetail[]; docs: string } };

/** A part of the items that goes in one request. */
interface Chunk<Item> {
  /** The place of the first one among all. */
  from: number;
  items: Item[];
}

/**
 * What sends one request of items, under a key of its own.
 *
 * @internal
 */
export interface BulkRequest<Item, Row> {
  method: string;
  path: string;
  /** Where the pages are that explain errors. */
  baseUrl: string;
  send(items: Item[], idempotencyKey: string): Promise<BulkAnswer<Row>[]>;
}

/**
 * Sends items in as many requests as they need.
 * @throws ItsmError where no item was answered at all
 *
 * @internal
 */
export async function sendBulk<Item extends object, Row>(
  request: BulkRequest<Item, Row>,
  items: readonly Item[],
  { idempotencyKey = randomKey(), concurrency = 1, onProgress }: BulkPostOptions = {},
): Promise<BulkResult<Item, Row>> {
  const given = [...items];
  const chunks = split(given);
  const results: BulkResult<Item, Row>['results'] = [];
  const progress = { done: 0, failed: 0, total: items.length };
  let isAnswered = false;
  /** What is no fault of the items: the rest is not sent. */
  let obstacle: ItsmError | undefined;
  let refusal: ItsmError | undefined;

  async function sendChunk(chunk: Chunk<Item>): Promise<void> {
    const key = `${idempotencyKey}:${chunk.from}-${chunk.from + chunk.items.length}`;
    const answers = obstacle ?? (await request.send(chunk.items, key).catch(asOutcome));
    if (!(answers instanceof Error)) isAnswered = true;
    else if (answers.code === 'PAYLOAD_TOO_LARGE' && chunk.items.length > 1) return sendHalves(chunk);
    else if (answers.status === 400 || answers.status === 413) refusal ??= answers;
    else obstacle ??= answers;

    for (const place of chunk.items.keys()) {
      const index = chunk.from + place;
      // An answer for each item, as the contract has it.
      const answer = answers instanceof Error ? answers : (answers[place] as BulkAnswer<Row>);
      const result = resultOf(answer, request);
      results[index] = { index, item: given[index] as Item, ...result };
      progress[result.ok ? 'done' : 'failed'] += 1;
    }
    onProgress?.({ ...progress });
  }

  async function sendHalves({ from, items }: Chunk<Item>): Promise<void> {
    const middle = Math.ceil(items.length / 2);
    await sendChunk({ from, items: items.slice(0, middle) });
    await sendChunk({ from: from + middle, items: items.slice(middle) });
  }

  async function work(): Promise<void> {
    for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) await sendChunk(chunk);
  }
  // With none at work nothing would be sent, and nobody told that it is NaN.
  await Promise.all(chunks.slice(0, Math.max(1, concurrency || 1)).map(work));

  const error = refusal ?? obstacle;
  if (!isAnswered && error !== undefined) throw error;
  return {
    results,
    done: results.flatMap((result) => (result.ok ? [result.data] : [])),
    failed: results.filter((result) => !result.ok),
  };
}

/** As many items as they are now in a request as it may hold; one that repeats an id begins the next. */
function split<Item extends object>(items: readonly Item[]): Chunk<Item>[] {
  const chunks: Chunk<Item>[] = [];
  let bytes = 0;
  let ids = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    const text = JSON.stringify(item);
    const copy = JSON.parse(text) as Item & { id?: unknown };
    const size = new TextEncoder().encode(text).length + 1;
    const id = copy.id ?? index;
    const last = chunks.at(-1);
    bytes += size;
    if (last !== undefined && bytes <= limits.bodyBytes - 100 && last.items.length < limits.bulkItems && !ids.has(id)) {
      last.items.push(copy);
    } else {
      chunks.push({ from: index, items: [copy] });
      bytes = size;
      ids = new Set();
    }
    ids.add(id);
  }
  return chunks;
}

function resultOf<Item, Row>(
  answer: BulkAnswer<Row> | ItsmError,
  { method, path, baseUrl }: BulkRequest<Item, Row>,
): { ok: true; data: Row } | { ok: false; error: ItsmError } {
  if (isItsmError(answer)) return { ok: false, error: answer };
  if (answer !== undefined && 'data' in answer) return { ok: true, data: answer.data };
  const { message, docs, ...error } = answer?.error ?? {
    message: 'The item has no answer.',
    code: 'UNEXPECTED_ANSWER',
  };
  const failure = { ...error, method, path, status: answer?.status, docs: docs && baseUrl + docs };
  return { ok: false, error: createError(message, failure) };
}
