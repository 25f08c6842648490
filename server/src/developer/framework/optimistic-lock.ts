import * as z from 'zod';
import type { Context } from '../../resources/shared/context.ts';
import { ApiError } from '../../shared/errors.ts';
import { etagOf } from '../../shared/etag.ts';
import { html, type SafeHtml } from '../ui/html.ts';

/*
 * Optimistic concurrency of forms: each form sends the ETag of the resource that its page has shown, so that it can't
 * overwrite later changes of other users (docs/decisions/optimistic-concurrency.md).
 */

/** Parses the ETag that a form sends. */
export const Etag = z.string().max(200);

/** Renders the ETag of a resource as a hidden field. */
export function etagField(resource: object): SafeHtml {
  return html`<input type="hidden" name="state" value="${etagOf(resource) ?? ''}">`;
}

/** Changes a resource if its ETag is still the one that the form sent. @throws ApiError PRECONDITION_FAILED */
export async function changeIfUnchanged<Given extends Context, Result>(
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
