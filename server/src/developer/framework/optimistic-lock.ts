import * as z from 'zod';
import type { Context } from '../../resources/shared/context.ts';
import { ApiError } from '../../shared/errors.ts';
import { etagOf } from '../../shared/etag.ts';
import { html, type SafeHtml } from '../ui/html.ts';

/*
 * Optimistic concurrency of forms (docs/decisions/optimistic-concurrency.md). Each form sends the ETag that the
 * resource had when the server rendered the page. Therefore, a form can't overwrite later changes of other users.
 */

/** Parses the ETag that a form sends. */
export const Etag = z.string().max(200);

/** Renders a hidden field with the ETag of a resource. */
export function etagField(resource: object): SafeHtml {
  return html`<input type="hidden" name="etag" value="${etagOf(resource) ?? ''}">`;
}

/** Changes a resource only if its ETag equals the ETag that the form sent. @throws ApiError PRECONDITION_FAILED */
export async function changeIfUnchanged<Given extends Context, Result>(
  context: Given,
  etag: string,
  change: (context: Given) => Promise<Result>,
): Promise<Result> {
  try {
    return await change({ ...context, ifMatch: [etag] });
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'PRECONDITION_FAILED')) throw error;
    throw new ApiError(
      'PRECONDITION_FAILED',
      'The values have changed since you opened the page. Reload the page to see them, or submit the form again to overwrite them.',
    );
  }
}
