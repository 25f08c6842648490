import * as z from 'zod';
import { type EndpointMeta, PerPage, success } from './endpoint.ts';
import { integerFromText, TimestampInput } from './fields.ts';

/** The query of what has changed in a resource (docs/decisions/change-feed.md). Without a beginning it is all of it. */
export const ChangesQuery = z
  .strictObject({
    since: TimestampInput.optional().meta({
      description: 'What has changed since this moment, and perhaps a little before it. Not together with `cursor`.',
      example: '2026-11-20T10:00:00Z',
    }),
    cursor: z
      .string()
      .optional()
      .meta({ description: 'The `nextCursor` of the page before: what has changed after it.' }),
    perPage: integerFromText(PerPage.meta({ ...PerPage.meta(), default: 100, example: 100 })).default(100),
  })
  .refine(({ since, cursor }) => since === undefined || cursor === undefined, {
    path: ['cursor'],
    message: 'must not be given together with since',
  });
export type ChangesQuery = z.output<typeof ChangesQuery>;

export const ChangesMeta = z
  .object({
    nextCursor: z.string().meta({
      description: 'Where the next page begins, also on the last one: keep it, and ask with it again later.',
    }),
    hasMore: z.boolean().meta({ description: 'Whether there is more already; else ask again after a while.' }),
  })
  .meta({
    id: 'ChangesMeta',
    description: 'Where to go on from, and whether to do so at once.',
    example: { nextCursor: 'q7XcV2hTn0aMMS4xNzYzODAwMDAwMDAwMDAwLjEyMzQ1Ni4xMDQy', hasMore: false },
  });
export type ChangesMeta = z.output<typeof ChangesMeta>;

/** The endpoint that tells what has changed in a resource, whose list stands at `path`. */
export function changesOf<const Path extends string, Row extends z.ZodType>(
  path: Path,
  row: Row,
  metadata: EndpointMeta,
) {
  return {
    method: 'GET',
    path: `${path}/changes`,
    summary: `List changed ${path.slice(1)}`,
    description:
      'Rows at their newest state, in the order of their last change. What commits after a cursor was given is on a page ' +
      'after it, whoever changed it; a row may come twice. Without `since` and `cursor` it begins with the first row.',
    metadata,
    query: ChangesQuery,
    responses: {
      200: z.object({
        success,
        data: z.array(row).meta({ description: 'The rows of the page, in the order of their last change.' }),
        meta: ChangesMeta,
      }),
    },
  } as const;
}
