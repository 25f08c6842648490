import * as z from 'zod';
import type { Context } from '../../resources/shared/context.ts';
import { ApiError } from '../../shared/errors.ts';
import { etagOf } from '../../shared/etag.ts';
import { html, type SafeHtml } from '../ui/html.ts';

/*
 * A form that changes a resource changes what its page has shown, and not what others have made of it since
 * (docs/decisions/optimistic-concurrency.md).
 */

/** The state that a form has shown. */
export const State = z.string().max(200);

/** The state of a resource, within its form. */
export function stateField(resource: object): SafeHtml {
  return html`<input type="hidden" name="state" value="${etagOf(resource) ?? ''}">`;
}

/** Changes a resource that is still as its form has shown it. @throws ApiError PRECONDITION_FAILED */
export async function whileUnchanged<Given extends Context, Result>(
  context: Given,
  state: string,
  change: (context: Given) => Promise<Result>,
): Promise<Result> {
  try {
    return await change({ ...context, ifMatch: [state] });
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'PRECONDITION_FAILED')) throw error;
    throw new ApiError(
      'PRECONDITION_FAILED',
      'This was changed since you opened the page. Reload the page to see the current values, or submit the form again to overwrite them.',
    );
  }
}
