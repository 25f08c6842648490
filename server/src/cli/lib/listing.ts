import { Id, integerFromText } from '@itsm-api/contract';
import type { Runtime } from '../../process/runtime.ts';
import type { Context } from '../../resources/shared/context.ts';
import type { Page } from '../../resources/shared/lists.ts';
import { requestContext, tenantContext } from '../../resources/tenants/queries.ts';

/** The schema of the option `--limit`. */
export const Limit = integerFromText(Id.max(10_000));

/**
 * Returns the context for listing rows. If `q` is set, the context has the database role of API requests, because
 * searches need that role.
 * @throws ApiError NOT_FOUND if the tenant doesn't exist
 */
export function listContext(runtime: Runtime, tenant: string, q: string | undefined): Promise<Context> {
  return q === undefined ? tenantContext(runtime, tenant) : requestContext(runtime, tenant);
}

/** Returns the first rows of a list. Reads pages of up to 100 rows until it has `limit` rows or the list ends. */
export async function firstOf<Row>(
  limit: number,
  readPage: (query: { page: number; perPage: number }) => Promise<Page<Row>>,
): Promise<Row[]> {
  const perPage = Math.min(limit, 100);
  const found: Row[] = [];
  for (let page = 1; found.length < limit; page++) {
    const { data } = await readPage({ page, perPage });
    found.push(...data);
    if (data.length < perPage) break;
  }
  return found.slice(0, limit);
}

/** Returns a hint if the list may have more rows. Returns undefined if the command found fewer rows than `--limit`. */
export function moreHint(found: readonly unknown[], { limit }: { limit: number }): string | undefined {
  return found.length < limit ? undefined : `Showing the newest ${limit}. Use --limit to show more.`;
}
