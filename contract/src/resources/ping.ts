import * as z from 'zod';
import { endpoints, item, meta } from '../endpoint.ts';

export const Pong = z
  .object({
    status: z.literal('ok').meta({ description: 'Always `ok`.' }),
    version: z.literal('v1').meta({ description: 'The version of the API, as in the path.' }),
  })
  .meta({ id: 'Pong', description: 'The status of the service.', example: { status: 'ok', version: 'v1' } });
export type Pong = z.output<typeof Pong>;

export const ping = endpoints({
  get: {
    method: 'GET',
    path: '/ping',
    summary: 'Check that the service is available',
    description: 'Requires no API key. Ignores query parameters and API keys.',
    metadata: meta({ scope: null, group: null }),
    query: z.unknown(),
    responses: { 200: item(Pong) },
  },
});
