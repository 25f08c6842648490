import { ItsmClient, isItsmError, type NewTicket } from '@itsm-api/client';
import { openInstallation } from '../../test/support/installation.ts';
import { supervise } from '../../test/support/server-process.ts';
import { addWorkspace } from '../../test/support/subscribed-workspaces.ts';

export interface PacingOptions {
  /** The number of tickets that each client creates concurrently. */
  creates: number;
  /** The number of clients that share the API key. */
  clients: number;
  /** The maximum number of requests per endpoint group and window. */
  limit: number;
  windowSeconds: number;
}

export interface PacingResult extends PacingOptions {
  created: number;
  /** The number of rejected calls by error code. */
  rejected: Record<string, number>;
  requests: number;
  /** The number of 429 responses. */
  rejectedRequests: number;
  /** The lines that the clients logged at the level `warn`. */
  lines: string[];
  seconds: number;
}

/** Starts a server, makes several clients call create() concurrently, and counts the results. */
export async function benchPacing(options: PacingOptions): Promise<{ table: string; result: PacingResult }> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { runtime, apiUrl, env } = await openInstallation(stops);
    const { key } = await addWorkspace(runtime, 'Paced');
    const limits = {
      RATE_LIMIT_GLOBAL: String(2 * options.limit),
      RATE_LIMIT_GROUP: String(options.limit),
      RATE_LIMIT_WINDOW_SECONDS: String(options.windowSeconds),
    };
    const api = supervise({ ...env, ...limits, ROLES: 'api' });
    stops.push(api.stop);
    await api.ready();
    const result = await createConcurrently(apiUrl, key, options);
    return { table: tableOf(result), result };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Makes several clients call create() concurrently on a running server, and counts the results. */
export async function createConcurrently(
  baseUrl: string,
  apiKey: string,
  options: PacingOptions,
): Promise<PacingResult> {
  const result: PacingResult = {
    ...options,
    created: 0,
    rejected: {},
    requests: 0,
    rejectedRequests: 0,
    lines: [],
    seconds: 0,
  };
  const clients = Array.from({ length: options.clients }, () => {
    return new ItsmClient({
      baseUrl,
      apiKey,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        result.requests += 1;
        if (response.status === 429) result.rejectedRequests += 1;
        return response;
      },
      logger: { debug: () => undefined, warn: (line) => result.lines.push(line) },
    });
  });
  const began = performance.now();
  const calls = clients.flatMap((client) =>
    Array.from({ length: options.creates }, (_, index) => client.tickets.create(ticketOf(index))),
  );
  for (const outcome of await Promise.allSettled(calls)) {
    if (outcome.status === 'fulfilled') continue;
    const code = isItsmError(outcome.reason) ? outcome.reason.code : String(outcome.reason);
    result.rejected[code] = (result.rejected[code] ?? 0) + 1;
  }
  result.seconds = Math.round((performance.now() - began) / 100) / 10;
  result.created = (await clients[0]?.tickets.list({ perPage: 1 }))?.meta.totalCount ?? 0;
  return result;
}

function ticketOf(index: number): NewTicket {
  return {
    title: `Paced ${index}`,
    description: 'One of many concurrent tickets.',
    type: 'INCIDENT',
    category: 'OTHER',
  };
}

function tableOf({ creates, clients, limit, windowSeconds, ...result }: PacingResult): string {
  const called = clients === 1 ? `${creates} creates` : `${creates} creates by each of ${clients} clients with one key`;
  return `${called} at once, ${limit} in ${windowSeconds} s
Tickets created      ${result.created}
Calls rejected    ${JSON.stringify(result.rejected)}
Requests          ${result.requests}
Answers 429       ${result.rejectedRequests}
Lines of the log  ${result.lines.length}
Time              ${result.seconds} s
${result.lines.map((line) => `  ${line}\n`).join('')}`;
}
