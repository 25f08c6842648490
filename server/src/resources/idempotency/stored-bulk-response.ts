import type { BulkItemError } from '@itsm-api/contract';
import type { Context } from '../shared/context.ts';
import type { StorageFormat } from './idempotency.ts';

/** The result of an item that has been written, or the error of the item. */
type BulkAnswer<Row> = { status: number; data: Row } | BulkItemError;

/**
 * Returns the functions that convert the response of a bulk request to and from the form that is stored for an
 * `Idempotency-Key`. The stored form contains only the ids of the written rows. A restored response has their current
 * content.
 * @param find returns the rows with these ids, in any order
 */
export function storedBulkResponse<Row extends { id: number }>(
  find: (context: Context, ids: number[]) => Promise<Row[]>,
): StorageFormat {
  return {
    serialize: (answers: BulkAnswer<Row>[]): unknown[] =>
      answers.map((answer) => {
        if ('error' in answer) return answer;
        const { data, ...others } = answer;
        return { ...others, id: data.id };
      }),
    restore: async (context, stored: ({ id: number } | BulkItemError)[]) => {
      const ids = stored.flatMap((answer) => ('id' in answer ? answer.id : []));
      const found = ids.length === 0 ? [] : await find(context, ids);
      const rows = new Map(found.map((row) => [row.id, row]));
      return stored.map((answer) => {
        if ('error' in answer) return answer;
        const { id, ...others } = answer;
        return { ...others, data: rows.get(id) };
      });
    },
  };
}
