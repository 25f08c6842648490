import { Id, integerFromText } from '@itsm-api/contract';
import * as z from 'zod';
import { findRequests, type LoggedRequest, listRequests, RequestFilter } from '../../resources/requests/queries.ts';
import { tenantContext } from '../../resources/tenants/queries.ts';
import { ApiError } from '../../shared/errors.ts';
import { progressInterval, toJsonLines, writeFile } from '../lib/export.ts';
import { Limit, moreHint } from '../lib/listing.ts';
import type { Output } from '../lib/output.ts';
import { PastTime } from '../lib/parse-time.ts';
import { action } from '../lib/run-command.ts';

const filter = RequestFilter.extend({
  tenant: z.string(),
  key: integerFromText(Id).optional(),
  since: PastTime.optional(),
  until: PastTime.optional(),
});

export const list = action({
  input: filter.extend({ limit: Limit }),
  work: async (runtime, { tenant, limit, ...which }) =>
    (await listRequests(await tenantContext(runtime, tenant), which, { take: limit })).data,
  format: (found, output) =>
    output.table(
      ['TIME', 'STATUS', 'ERROR', 'REQUEST', 'LATENCY', 'KEY', 'REQUEST ID'],
      found.map(({ at, status, errorCode, method, path, milliseconds, keyId, requestId }) => [
        ...[output.time(at), status, errorCode, `${method} ${path}`, `${milliseconds} ms`, keyId, requestId],
      ]),
    ),
  hint: moreHint,
});

export const show = action({
  input: z.strictObject({ tenant: z.string(), 'request-id': z.string() }),
  work: async (runtime, { tenant, 'request-id': requestId }) => {
    const found = await findRequests(await tenantContext(runtime, tenant), requestId);
    if (found.length > 0) return found;
    throw new ApiError(
      'NOT_FOUND',
      'The request log of this tenant has no request with this ID. It keeps only some requests of each minute, and none ' +
        'with the status 429. Search the server log for the ID.',
    );
  },
  format: (found, output) => found.map((request) => formatCard(request, output)).join('\n\n'),
});

export { exportToFile as export };

const exportToFile = action({
  input: filter.extend({ file: z.string().min(1), yes: z.boolean().default(false) }),
  work: async (runtime, { tenant, file, yes, ...which }, report) => {
    const context = await tenantContext(runtime, tenant);
    return writeFile(runtime, { file, yes, report }, async (append) => {
      let exported = 0;
      let after: string | undefined;
      do {
        const { data, next } = await listRequests(context, which, { take: batchSize, after });
        await append(toJsonLines(data));
        exported += data.length;
        after = next;
        if (next !== undefined && exported % progressInterval === 0) report(`${exported} requests …`);
      } while (after !== undefined);
      return { exported };
    });
  },
  format: ({ exported }) => `Exported ${exported} requests.`,
});

const batchSize = 5000;

function formatCard({ requestId, at, method, path, ...request }: LoggedRequest, { card, time }: Output): string {
  const { status, errorCode, milliseconds, keyId, address } = request;
  return card({
    ...{ 'request id': requestId, time: time(at), request: `${method} ${path}`, status, error: errorCode },
    ...{ latency: `${milliseconds} ms`, key: keyId, address },
  });
}
