import * as z from 'zod';
import { success } from './endpoint.ts';
import { docsOf, ErrorCode, ErrorDetails, ErrorDocs, ErrorMessage } from './errors.ts';

/** The maximum number of items in a bulk request. */
export const bulkItems = 100;

/** An invalid item in the parsed body of a bulk request. Valid items of the same request can still succeed. */
export class InvalidItem {
  readonly input: unknown;
  readonly issues: readonly z.core.$ZodIssue[];

  constructor(input: unknown, issues: readonly z.core.$ZodIssue[]) {
    this.input = input;
    this.issues = issues;
  }
}

/**
 * Returns the schema of the item array in a bulk request. The array has 1 to 100 items, and each item is validated
 * independently (docs/decisions/tickets.md).
 * @param options.uniqueIds whether the whole request is invalid if two items have the same id
 */
export function bulk<Item extends z.ZodType>(item: Item, { uniqueIds = true } = {}) {
  type Items = z.ZodType<(z.output<Item> | InvalidItem)[], z.input<Item>[]>;
  const each = item.catch(({ value, error }) => new InvalidItem(value, error.issues) as never);
  const items = z
    .array(each)
    .min(1)
    .max(bulkItems)
    .superRefine((given, context) => {
      if (uniqueIds) rejectRepeatedIds(given as { id?: unknown }[], context);
    })
    .meta({
      description: 'The items. The server processes them in this order. Each item succeeds or fails independently.',
    });
  // Keeps only one item above the limit, which is enough to reject the request. Otherwise, zod would validate every
  // item.
  const truncate = (given: unknown) => (Array.isArray(given) ? given.slice(0, bulkItems + 1) : given);
  return z.preprocess(truncate, items) as unknown as Items;
}

/** The validation message for an item that has the same id as an earlier item of the request. */
export const repeatedId = 'is a duplicate: list each ticket only once';

/**
 * Returns the id of an item, even if other fields of the item are invalid. Returns undefined if the item has no valid
 * id.
 */
export function idOfItem<Id>(item: { id?: Id } | InvalidItem): Id | undefined {
  if (!(item instanceof InvalidItem)) return item.id;
  const isNamed = Object(item.input).id !== undefined && item.issues.every(({ path }) => path[0] !== 'id');
  return isNamed ? (item.input as { id: Id }).id : undefined;
}

function rejectRepeatedIds(items: readonly ({ id?: unknown } | InvalidItem)[], context: z.core.$RefinementCtx): void {
  const seen = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    const id = idOfItem(item);
    if (id !== undefined && seen.has(id)) {
      context.addIssue({ code: 'custom', path: [index, 'id'], message: repeatedId });
    }
    seen.add(id);
  }
}

/** Returns the schema of an item's `status` in a bulk response. */
export function itemStatus<Status extends number>(statuses: readonly Status[]) {
  return z.literal([...statuses]).meta({ description: 'The HTTP status that a request for this item would return.' });
}

/** The result of a failed item in a bulk response. */
export const BulkItemError = z
  .object({
    status: itemStatus([400, 404, 412]),
    error: z
      .object({
        code: ErrorCode,
        message: ErrorMessage,
        details: ErrorDetails.optional().meta({
          description: 'The invalid fields, at most 20. Paths are relative to the item.',
        }),
        docs: ErrorDocs,
      })
      .meta({ description: 'The error that a request for this item would return.' }),
  })
  .meta({
    id: 'BulkItemError',
    description: 'An item that failed. It had no effect.',
    example: {
      status: 400,
      error: {
        code: 'VALIDATION_ERROR',
        message: 'title is required',
        details: [{ path: 'title', message: 'is required' }],
        docs: docsOf('VALIDATION_ERROR'),
      },
    },
  });
export type BulkItemError = z.output<typeof BulkItemError>;

/**
 * Returns the schema of a bulk response. The response contains one result for each item of the request, in the same order.
 */
export function bulkResults<Result extends z.ZodType>(result: Result) {
  return z.object({
    success,
    data: z.array(result).meta({ description: 'One result for each item, in the same order.' }),
  });
}
