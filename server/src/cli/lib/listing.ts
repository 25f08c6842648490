import { Id, integerFromText } from '@itsm-api/contract';
import type { Runtime } from '../../process/runtime.ts';
import type { Context } from '../../resources/shared/context.ts';
import type { Page } from '../../resources/shared/lists.ts';
import { requestContext, tenantContext } from '../../resources/tenants/queries.ts';

/** `--limit`. */
export const Limit = integerFromText(Id.max(10_000));

/** Where a list is read, by words or without them. @throws ApiError NOT_FOUND when there is no such tenant */
export function listContext(runtime: Runtime, tenant: string, q: string | undefined): Promise<Context> {
  return q === undefined ? tenantContext(runtime, tenant) : requestContext(runtime, tenant);
}

/** The first rows of a list, read page by page. */
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

/** Says that there may be more than were listed: nobody is to take the first rows for all. */
export function moreHint(found: readonly unknown[], { limit }: { limit: number }): string | undefined {
  return found.length < limit ? undefined : `These are the newest ${limit}; --limit shows more.`;
}
