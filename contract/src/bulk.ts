import * as z from 'zod';
import { success } from './endpoint.ts';
import { docsOf, ErrorCode, ErrorDetails, ErrorDocs, ErrorMessage } from './errors.ts';

/** How many items a bulk request may hold. */
export const bulkItems = 100;

/** An item of a bulk request that is wrong: its fault and not the request's, so it stands where the item would. */
export class Faulty {
  readonly input: unknown;
  readonly issues: readonly z.core.$ZodIssue[];

  constructor(input: unknown, issues: readonly z.core.$ZodIssue[]) {
    this.input = input;
    this.issues = issues;
  }
}

/**
 * The items of a bulk request: 1 to 100, each checked by its own schema and answered by itself
 * (docs/decisions/tickets.md). An id that two of them name is the request's fault.
 */
export function bulk<Item extends z.ZodType>(item: Item) {
  type Items = z.ZodType<(z.output<Item> | Faulty)[], z.input<Item>[]>;
  const each = item.catch(({ value, error }) => new Faulty(value, error.issues) as never);
  const items = z
    .array(each)
    .min(1)
    .max(bulkItems)
    .superRefine((given, context) => refuseRepeatedIds(given as { id?: unknown }[], context))
    .meta({ description: 'The items: each is done or refused by itself, in their order.' });
  // One too many says it as well as twenty thousand, which would all be looked at.
  const firstOnes = (given: unknown) => (Array.isArray(given) ? given.slice(0, bulkItems + 1) : given);
  return z.preprocess(firstOnes, items) as unknown as Items;
}

/** What is wrong with an item that names the same as one before it. */
export const repeatedId = 'is that of another item: name each id once';

/** What an item is named by, be something else wrong with it; undefined where it names nothing. */
export function idOfItem<Id>(item: { id?: Id } | Faulty): Id | undefined {
  if (!(item instanceof Faulty)) return item.id;
  const isNamed = Object(item.input).id !== undefined && item.issues.every(({ path }) => path[0] !== 'id');
  return isNamed ? (item.input as { id: Id }).id : undefined;
}

function refuseRepeatedIds(items: readonly ({ id?: unknown } | Faulty)[], context: z.core.$RefinementCtx): void {
  const seen = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    const id = idOfItem(item);
    if (id !== undefined && seen.has(id)) {
      context.addIssue({ code: 'custom', path: [index, 'id'], message: repeatedId });
    }
    seen.add(id);
  }
}

/** An item's status. */
export function itemStatus<Status extends number>(statuses: readonly Status[]) {
  return z.literal([...statuses]).meta({ description: 'The status that the single request would have.' });
}

/** What an item of a bulk request is answered that is refused. */
export const BulkRefusal = z
  .object({
    status: itemStatus([400, 404]),
    error: z
      .object({
        code: ErrorCode,
        message: ErrorMessage,
        details: ErrorDetails.optional().meta({
          description: 'Each thing that is wrong, the first ones found; paths are those within the item.',
        }),
        docs: ErrorDocs,
      })
      .meta({ description: 'What the single request would have been answered.' }),
  })
  .meta({
    id: 'BulkRefusal',
    description: 'An item that was refused; nothing of it was done.',
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
export type BulkRefusal = z.output<typeof BulkRefusal>;

/** The envelope of a bulk request: an answer for each item, in their order. */
export function bulkAnswers<Answer extends z.ZodType>(answer: Answer) {
  return z.object({
    success,
    data: z.array(answer).meta({ description: 'An answer for each item, in their order.' }),
  });
}
