import * as z from 'zod';
import { type AgentTool, type EndpointMeta, IdParam, item, list, meta, NoQuery, PerPage, success } from './endpoint.ts';
import { integerFromText, TimestampInput } from './fields.ts';
import type { Group } from './limits.ts';
import type { Scope } from './scopes.ts';

/**
 * The query parameters of a change feed (docs/decisions/change-feed.md). Without `since` and `cursor`, the feed starts
 * with the oldest change.
 */
export const ChangesQuery = z
  .strictObject({
    since: TimestampInput.optional().meta({
      description:
        'Returns the changes since this time, and possibly a few slightly earlier changes. ' +
        'Do not combine `since` with `cursor`.',
      example: '2026-11-20T10:00:00Z',
    }),
    cursor: z
      .string()
      .optional()
      .meta({ description: 'The `nextCursor` of the previous page. Returns the changes after that page.' }),
    perPage: integerFromText(PerPage.meta({ ...PerPage.meta(), default: 100, example: 100 })).default(100),
  })
  .refine(({ since, cursor }) => since === undefined || cursor === undefined, {
    path: ['cursor'],
    message: 'must not be combined with `since`. To continue a sync, send only `cursor`',
  });
export type ChangesQuery = z.output<typeof ChangesQuery>;

export const ChangesMeta = z
  .object({
    nextCursor: z.string().meta({
      description: 'The cursor of the next page, also present on the last page. Store it for the next sync.',
    }),
    hasMore: z.boolean().meta({ description: 'Whether more changes are available now. If false, poll again later.' }),
  })
  .meta({
    id: 'ChangesMeta',
    description: 'The position in the change feed.',
    example: { nextCursor: 'q7XcV2hTn0aMMS4xNzYzODAwMDAwMDAwMDAwLjEyMzQ1Ni4xMDQy', hasMore: false },
  });
export type ChangesMeta = z.output<typeof ChangesMeta>;

/**
 * Returns the change feed endpoint of a resource.
 * @param path the path of the resource's list, such as `/tickets`
 */
export function changesOf<const Path extends string, Row extends z.ZodType>(
  path: Path,
  row: Row,
  metadata: EndpointMeta,
) {
  return {
    method: 'GET',
    path: `${path}/changes`,
    summary: `List changed ${path.slice(1).replace('-', ' ')}`,
    description:
      'Returns the current version of each changed resource, ordered by the last change, for incremental sync. ' +
      'To get the next page, send `nextCursor` as `cursor`. ' +
      'The feed never omits a changed resource, but it returns only the current version, ' +
      'and a resource can appear more than once. ' +
      'Without `since` and `cursor`, the feed starts with the oldest change.',
    metadata,
    query: ChangesQuery,
    responses: { 200: changesPage(row, 'The changed resources, ordered by their last change.') },
  } as const;
}

interface Reads<Row, Query, Params> {
  row: Row;
  query: Query;
  scope: Scope | 'any';
  group: Group;
  /** The MCP tools of the list and of the endpoint of one row. */
  agents?: { list?: AgentTool; get?: AgentTool };
  /** The schema of the path parameter `:id`. Default: a numeric id. */
  params?: Params;
  /** When the list doesn't begin with the newest rows. Default: never. */
  unless?: string;
}

/**
 * Returns the three endpoints that read a resource: its list, its change feed, and the endpoint of one row.
 * @param path the path of the list, such as `/teams`
 * @param one the name of a row with its article, such as `a team`
 */
export function readsOf<
  const Path extends string,
  Row extends z.ZodType,
  Query extends z.ZodObject,
  Params extends z.ZodType = typeof IdParam,
>(path: Path, one: string, { row, query, scope, group, agents, params, unless }: Reads<Row, Query, Params>) {
  const many = path.slice(1);
  // Other parameters than `page` and `perPage` are filters.
  const hasSeveralFilters = Object.keys(query.shape).length > 3;
  const combined = ' Different filters combine with AND. Several values of one filter combine with OR.';
  return {
    list: {
      method: 'GET',
      path,
      summary: `List ${many}`,
      description: `Returns the newest ${many} first${unless ? `, unless ${unless}` : ''}.${hasSeveralFilters ? combined : ''}`,
      metadata: meta({ scope, group, ...(agents?.list && { agent: agents.list }) }),
      query,
      responses: { 200: list(row) },
    },
    changes: changesOf(path, row, meta({ scope, group })),
    get: {
      method: 'GET',
      path: `${path}/:id`,
      summary: `Get ${one}`,
      metadata: meta({ scope, group, ...(agents?.get && { agent: agents.get }) }),
      pathParams: (params ?? IdParam) as Params,
      query: NoQuery,
      responses: { 200: item(row) },
    },
  } as const;
}

/**
 * Returns the change feed endpoint of a resource whose rows never change, such as asset activity, or change only when an
 * administrator redacts them, such as comments.
 * @param path the complete path, such as `/comments/changes`
 * @param what the rows, as the summary and the description name them, such as `the comments of all tickets`
 */
export function newRowsOf<const Path extends string, Row extends z.ZodType>(
  path: Path,
  what: string,
  row: Row,
  metadata: EndpointMeta,
) {
  return {
    method: 'GET',
    path,
    summary: `List ${what}`,
    description:
      `Returns ${what} for incremental sync, in the order in which the transactions were committed. ` +
      'To get the next page, send `nextCursor` as `cursor`. ' +
      'The feed never omits an item, and an item can appear more than once. ' +
      'Without `since` and `cursor`, the feed starts with the oldest item.',
    metadata,
    query: ChangesQuery,
    responses: { 200: changesPage(row, 'The items, oldest first.') },
  } as const;
}

function changesPage<Row extends z.ZodType>(row: Row, description: string) {
  return z.object({ success, data: z.array(row).meta({ description }), meta: ChangesMeta });
}
