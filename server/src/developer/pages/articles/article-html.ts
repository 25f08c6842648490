import { ApiError } from '../../../shared/errors.ts';
import type { TenantId } from '../../../shared/tenant-id.ts';
import { createWorkerPool } from '../../../shared/worker-pool.ts';
import { html, notice, type SafeHtml } from '../../ui/html.ts';

const tooLong = 'The preview takes too long. Simplify the text, for example repeated brackets and nested lists.';

/*
 * Renders in a worker thread, because the Markdown parser takes minutes for some texts of 256 KiB, such as many nested
 * lists.
 */
const render = createWorkerPool<string, string | undefined>({
  worker: new URL('./article-html-worker.ts', import.meta.url),
  maxQueued: 50,
  maxPerTenant: 5,
  tooMany: () => 'Too many concurrent previews. Retry in 5 seconds.',
  timeout: { maxMs: 5000, tooLong: () => new ApiError('VALIDATION_ERROR', tooLong) },
  retryAfterSeconds: 5,
});

/**
 * Renders the Markdown of an article as HTML without scripts, styles and images. If the text can't be rendered, returns
 * a notice with the reason.
 */
export async function renderArticle(tenantId: TenantId, markdown: string): Promise<SafeHtml> {
  try {
    const rendered = await render(tenantId, markdown);
    if (rendered !== undefined) return html`<div class="markdown">${html.raw`${rendered}`}</div>`;
    return notice('The preview is not available: the text has too many nested elements.', 'warn');
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return notice(error.message, 'warn');
  }
}
