import * as z from 'zod';
import { endpoints, item, meta } from './endpoint.ts';

export const Pong = z
  .object({
    status: z.literal('ok').meta({ description: 'The service answers.' }),
    version: z.literal('v1').meta({ description: 'The version of the API, as the path has it.' }),
  })
  .meta({ id: 'Pong', description: 'That the service answers.', example: { status: 'ok', version: 'v1' } });
export type Pong = z.output<typeof Pong>;

export const ping = endpoints({
  get: {
    method: 'GET',
    path: '/ping',
    summary: 'Check that the service answers',
    description: 'Needs no key. Any query or key is ignored.',
    metadata: meta({ scope: null, group: null }),
    query: z.unknown(),
    responses: { 200: item(Pong) },
  },
});
