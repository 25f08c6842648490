import { type ListQuery, pageOf } from '../resources/lists.ts';
import { readStep } from '../steps.ts';
import type { Turn } from '../turn.ts';
import { agrees } from '../values.ts';
import { isRejection, type Sent, searchOf, type Table } from '../world.ts';
import { missingId } from './arbitraries.ts';

interface Filtered<Row> {
  query: ListQuery;
  /** Returns true if a row matches the query, or undefined if it depends on an unknown time. */
  isIn(row: Row, sent: Sent): boolean | undefined;
}

/**
 * Records a list page that was read during concurrent changes. Records each row as a separate read, and stores the
 * total for a later check.
 */
export function noteList<Row extends { id: number }>(
  { world }: Turn,
  table: Table<Row>,
  sent: Sent | undefined,
  { query, isIn, select = (row) => row }: Filtered<Row> & { select?(row: never): object },
): void {
  if (sent?.answer === undefined) return;
  const { answer, begin, end } = sent;
  if (answer.status !== 200) {
    world.expect(false, 'a list was rejected', sent);
    return;
  }
  const { data, meta } = answer.body as { data: Row[]; meta: { page: number; perPage: number; totalCount: number } };
  const { page = 1, perPage = 20, sort } = query;
  const ids = data.map(({ id }) => id);
  const isOrdered = ids.every(
    (id, index) => index === 0 || (sort === 'id' ? id > (ids[index - 1] ?? 0) : id < (ids[index - 1] ?? 0)),
  );
  world.expect(isOrdered, 'a list is out of order', sent);
  world.expect(
    meta.page === page && meta.perPage === perPage && data.length <= perPage,
    'a page has another number or size',
    sent,
  );
  table.lists.push({ request: sent.request, begin, end, totalCount: meta.totalCount, isIn: (row) => isIn(row, sent) });
  for (const row of data) {
    const reported = select(row as never);
    const isMatch = isIn({ ...row, ...reported }, sent);
    world.expect(isMatch !== false, 'a list contains a row that does not match its filters', sent);
    table.of(row.id).steps.push(readStep(sent, reported));
  }
}

/** Compares a list page with the model. Call this function only while no client changes rows. */
export function expectList<Row extends { id: number }>(
  { world }: Turn,
  rows: readonly Row[],
  sent: Sent | undefined,
  { query, isIn }: Filtered<Row>,
): void {
  if (sent?.answer === undefined || rows.some((row) => isIn(row, sent) === undefined)) return;
  const expected = pageOf(
    rows.filter((row) => isIn(row, sent)),
    query,
  );
  const reported = { data: sent.answer.body?.data, meta: sent.answer.body?.meta };
  world.expect(
    agrees(expected, reported),
    `a list differs from the model: expected ${JSON.stringify(expected.meta)} ${idsOf(expected.data)}`,
    sent,
  );
}

const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id).join();

export function askList(turn: Turn, operation: string, query: ListQuery, params: Record<string, number> = {}) {
  return turn.ask(operation, { params, search: searchOf(query) });
}

/**
 * Requests another tenant's row and a row that doesn't exist. Checks that both responses are the same NOT_FOUND error.
 */
export async function askForeign(
  turn: Turn,
  operation: string,
  { param = 'id', id, body }: { param?: string; id: number | undefined; body?: unknown },
): Promise<void> {
  const ask = (each: number) => turn.ask(operation, { params: { [param]: each }, body });
  const [foreign, missing] = await Promise.all([ask(id ?? missingId), ask(missingId + 1)]);
  for (const sent of [foreign, missing]) {
    if (sent?.answer !== undefined) {
      turn.world.expect(
        isRejection(sent.answer, ['NOT_FOUND'], 404),
        'a row of another tenant or an unknown row is not 404',
        sent,
      );
    }
  }
  const messages = [foreign, missing].map((sent) => sent?.answer?.body?.error?.message);
  if (messages.every((message) => message !== undefined)) {
    turn.world.expect(
      messages[0] === messages[1],
      'a row of another tenant gets another message than an unknown row',
      foreign,
      missing,
    );
  }
}
