import { type BulkRefusal, docsOf, InvalidItem } from '@itsm-api/contract';
import { ApiError } from '../../shared/errors.ts';
import { detailsOf, unknownField, validationError } from '../../shared/validation.ts';

/** An item of a bulk request on its way: as far as it came, or why it came no further. */
type Step<Value> = Value | ApiError;

/** The items of a bulk request, each of which goes on or is refused by itself (docs/decisions/tickets.md). */
export class BulkItems<Value> {
  readonly #steps: readonly Step<Value>[];

  private constructor(steps: readonly Step<Value>[]) {
    this.#steps = steps;
  }

  /** The items as the contract checked them; those that are wrong are refused as single requests are. */
  static of<Value>(items: readonly (Value | InvalidItem)[]): BulkItems<Value> {
    return new BulkItems(
      items.map((item) => (item instanceof InvalidItem ? validationError(detailsOf(item.issues, unknownField)) : item)),
    );
  }

  /** Those that are not refused, in their order. */
  get going(): Value[] {
    return this.#steps.filter((step): step is Value => !(step instanceof ApiError));
  }

  /** Takes each a step further, in their order; an ApiError that is thrown refuses the item. */
  next<Next>(step: (value: Value) => Next): BulkItems<Next> {
    return new BulkItems(
      this.#steps.map((before) => (before instanceof ApiError ? before : refusable(() => step(before)))),
    );
  }

  /**
   * Returns the result of each item, in their order.
   * @param publicUrl where errors link to
   */
  answers<Answer>(answer: (value: Value) => Answer, publicUrl: string | undefined): (Answer | BulkRefusal)[] {
    return this.#steps.map((step) => (step instanceof ApiError ? refusal(step, publicUrl) : answer(step)));
  }
}

function refusable<Value>(step: () => Value): Step<Value> {
  try {
    return step();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function refusal({ status, code, message, details }: ApiError, publicUrl: string | undefined): BulkRefusal {
  if (status !== 400 && status !== 404) throw new Error(`No item of a bulk request is refused with ${code}.`);
  return { status, error: { code, message, ...(details && { details: [...details] }), docs: docsOf(code, publicUrl) } };
}
