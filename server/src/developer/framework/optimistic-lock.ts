import { html, type SafeHtml } from '@remix-run/html-template';
import * as z from 'zod';
import type { Context } from '../../resources/shared/context.ts';
import { ApiError } from '../../shared/errors.ts';

/*
 * Optimistic concurrency for forms (docs/decisions/optimistic-concurrency-design.md). Each form sends the ETag that the
 * resource had when the server rendered the page. Therefore, a form can't overwrite later changes by other users.
 */

/** The schema of the ETag that a form sends. */
export const Etag = z.string().max(200);

/** Renders a hidden field with a resource's ETag. */
export function etagField({ etag }: { etag: string }): SafeHtml {
  return html`<input type="hidden" name="etag" value="${etag}">`;
}

/**
 * Changes a resource only if the form sent its current ETag.
 * @param advice what to do after a change by another user
 * @throws ApiError PRECONDITION_FAILED if the resource has changed
 */
export async function changeIfUnchanged<Base extends Context, Result>(
  context: Base,
  etag: string,
  change: (context: Base) => Promise<Result>,
  advice = 'Reload the page to see them, or submit the form again to overwrite them.',
): Promise<Result> {
  try {
    return await change({ ...context, ifMatch: [etag] });
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'PRECONDITION_FAILED')) throw error;
    throw new ApiError('PRECONDITION_FAILED', `The values have changed since you opened the page. ${advice}`);
  }
}
