import { type BulkItemError, docsOf, InvalidItem } from '@itsm-api/contract';
import { ApiError } from '../../shared/errors.ts';
import { detailsOf, unknownField, validationError } from '../../shared/validation.ts';

/** The state of an item in a bulk request: its current value, or the error if it was rejected. */
type Step<Value> = Value | ApiError;

/** The items of a bulk request. Each item succeeds or fails separately (docs/decisions/tickets.md). */
export class BulkItems<Value> {
  readonly #steps: readonly Step<Value>[];

  private constructor(steps: readonly Step<Value>[]) {
    this.#steps = steps;
  }

  /**
   * Creates BulkItems from items that the contract has parsed. For an invalid item, the error is the same as for a
   * request with a single item.
   */
  static of<Value>(items: readonly (Value | InvalidItem)[]): BulkItems<Value> {
    return new BulkItems(
      items.map((item) => (item instanceof InvalidItem ? validationError(detailsOf(item.issues, unknownField)) : item)),
    );
  }

  /** The values of the items that have no error, in order. */
  get accepted(): Value[] {
    return this.#steps.filter((step): step is Value => !(step instanceof ApiError));
  }

  /** The errors of the rejected items, with the indexes of the items. */
  get errors(): { index: number; error: ApiError }[] {
    return this.#steps.flatMap((step, index) => (step instanceof ApiError ? { index, error: step } : []));
  }

  /**
   * Applies a step, in order, to each item that doesn't have an error yet. If the step throws an ApiError for an item,
   * only that item is rejected.
   */
  next<Next>(step: (value: Value) => Next): BulkItems<Next> {
    return new BulkItems(
      this.#steps.map((before) => (before instanceof ApiError ? before : runStep(() => step(before)))),
    );
  }

  /** Returns the result or the error of each item, in order. @param publicUrl the base URL for links in errors */
  results<Result>(toResult: (value: Value) => Result, publicUrl: string | undefined): (Result | BulkItemError)[] {
    return this.#steps.map((step) => (step instanceof ApiError ? toItemError(step, publicUrl) : toResult(step)));
  }
}

function runStep<Value>(step: () => Value): Step<Value> {
  try {
    return step();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function toItemError({ status, code, message, details }: ApiError, publicUrl: string | undefined): BulkItemError {
  if (status !== 400 && status !== 404 && status !== 412)
    throw new Error(`An item of a bulk request can't fail with ${code}.`);
  return { status, error: { code, message, ...(details && { details: [...details] }), docs: docsOf(code, publicUrl) } };
}
