import type { ChangesQuery } from '@itsm-api/contract';
import type { Contract } from '@itsm-api/contract/ts-rest';
import type { RouterImplementation } from '@ts-rest/fastify';
import type { FastifyRequest } from 'fastify';
import { ok, page } from '../shared/responses.ts';
import type { UserContext } from './shared/context.ts';
import type { Page } from './shared/lists.ts';
import { type FeedRows, listChanges } from './sync/change-feed.ts';

/** The handlers of one resource: one function for each endpoint in the contract. */
export type Handlers<Resource extends keyof Contract> = RouterImplementation<Contract[Resource]>;

/** The functions that read a resource. */
interface Reads<Query, Listed, Row extends { id: number }, Id> {
  list(context: UserContext, query: Query): Promise<Page<Listed>>;
  rows: FeedRows<Row>;
  get(context: UserContext, id: Id): Promise<Row>;
}

type Input<Given> = Given & { request: FastifyRequest };

/** Returns the handlers of the three endpoints that read a resource: `list`, `changes` and `get`. */
export function handlersOf<Query, Listed, Row extends { id: number }, Id>({
  list,
  rows,
  get,
}: Reads<Query, Listed, Row, Id>) {
  return {
    list: async ({ request, query }: Input<{ query: Query }>) => page(await list(request.ctx, query)),
    changes: async ({ request, query }: Input<{ query: ChangesQuery }>) =>
      page(await listChanges(request.ctx, rows, query)),
    get: async ({ request, params }: Input<{ params: { id: Id } }>) => ok(await get(request.ctx, params.id)),
  };
}
