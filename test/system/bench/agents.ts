import { Agent } from 'node:http';
import { openEmbedded } from '@itsm-api/server/embedded-postgres/embedded.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { percentiles } from '../../support/percentiles.ts';
import { loadData } from './api/data.ts';
import { startServer } from './api/servers.ts';
import { cpuOf } from './api/usage.ts';
import { send } from './send.ts';

/** The latency of a tool call or an API request in milliseconds, and its CPU time in microseconds. */
export interface CallCost {
  call: string;
  p50: number;
  p99: number;
  cpuUs: number;
  /**
   * The p99 latency of the tool call minus the p99 latency of its endpoint, in milliseconds. Not set for the endpoint
   * itself.
   */
  more?: number;
}

interface AgentsOptions {
  dataDir: string;
  rounds: number;
  onProgress: (text: string) => void;
}

type Call = () => Promise<void>;

const perRound = 400;
/** The number of warm-up calls, after which V8 has optimized the code. */
const warming = 800;
/** The maximum difference between the p99 latencies of a tool call and its endpoint, in milliseconds. */
const maxAdditionalMs = 5;

/**
 * Measures the latency of MCP tool calls and of the equivalent API requests on an otherwise idle server. Each round
 * measures both.
 */
export async function benchAgents(
  options: AgentsOptions,
): Promise<{ table: string; result: CallCost[]; good: boolean }> {
  const { dataDir, onProgress } = options;
  const database = await openEmbedded({ dataDir, holder: { type: 'command' } });
  try {
    await migrateDatabase(database.url);
    const { keys, ticketIds } = await loadData(database.url, 10_000, onProgress);
    const server = await startServer('api', database.url);
    try {
      const calls = callsOf(server.url, { key: String(keys[0]), id: Number(ticketIds.at(-1)) });
      const result = await measure(calls, server.pid, options);
      return { table: tableOf(result), result, good: result.every(({ more = 0 }) => more <= maxAdditionalMs) };
    } finally {
      await server.stop();
    }
  } finally {
    await database.stop();
  }
}

async function measure(
  calls: Record<string, Record<string, Call>>,
  pid: number,
  { rounds, onProgress }: AgentsOptions,
): Promise<CallCost[]> {
  const timed = Object.entries(calls).flatMap(([endpoint, ways]) =>
    Object.entries(ways).map(([way, call]) => ({ endpoint, way, call, took: [] as number[], cpuUs: 0 })),
  );
  for (let i = 0; i < warming; i++) for (const { call } of timed) await call();
  for (let round = 1; round <= rounds; round++) {
    onProgress(`round ${round} of ${rounds}`);
    for (const each of timed) {
      const cpu = cpuOf(pid);
      for (let i = 0; i < perRound; i++) {
        const began = performance.now();
        await each.call();
        each.took.push(performance.now() - began);
      }
      each.cpuUs += (cpuOf(pid) - cpu) / (perRound * rounds);
    }
  }
  return timed.map(({ endpoint, way, took, cpuUs }, index) => {
    const { p50, p99 } = percentiles(took);
    const own = timed.findIndex((each) => each.endpoint === endpoint);
    const more = index === own ? {} : { more: p99 - percentiles(timed[own]?.took ?? []).p99 };
    return { call: `${endpoint}, ${way}`, p50, p99, cpuUs, ...more };
  });
}

/** Returns a direct request for each endpoint, and the equivalent tool call in two MCP revisions. */
function callsOf(url: string, { key, id }: { key: string; id: number }): Record<string, Record<string, Call>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: `Bearer ${key}` };
  const get = (path: string) => () => ask(new URL(`/api/public/v1${path}`, url), { agent, headers, method: 'GET' });
  const tool = (name: string, given: object, { revision, ...more }: { revision: string; _meta?: object }) => {
    const body = JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name, arguments: given, ...more },
    });
    const ofProtocol = {
      'mcp-protocol-version': revision,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...('_meta' in more && { 'mcp-method': 'tools/call', 'mcp-name': name }),
    };
    return () => ask(new URL('/mcp', url), { agent, headers: { ...headers, ...ofProtocol }, method: 'POST' }, body);
  };
  const about = 'io.modelcontextprotocol';
  const _meta = {
    [`${about}/protocolVersion`]: '2026-07-28',
    [`${about}/clientInfo`]: { name: 'bench', version: '1' },
    [`${about}/clientCapabilities`]: {},
  };
  const ways = (path: string, name: string, given: object) => ({
    API: get(path),
    'tool, 2026-07-28': tool(name, given, { revision: '2026-07-28', _meta }),
    'tool, 2025-11-25': tool(name, given, { revision: '2025-11-25' }),
  });
  return {
    'a ticket': ways(`/tickets/${id}`, 'get_ticket', { id }),
    'a list of 20': ways('/tickets', 'list_tickets', {}),
  };
}

/**
 * Sends a request.
 * @throws if the response contains a tool error
 */
async function ask(...request: Parameters<typeof send>): Promise<void> {
  const text = await send(...request);
  if (text.includes('"isError":true')) throw new Error(`The tool returned ${text}`);
}

function tableOf(costs: CallCost[]): string {
  const lines = costs.map(({ call, p50, p99, cpuUs, more }) => {
    const difference = more === undefined ? '' : `   ${more >= 0 ? '+' : ''}${more.toFixed(1)} of +${maxAdditionalMs}`;
    return `${call.padEnd(32)}${p50.toFixed(1).padStart(8)}${p99.toFixed(1).padStart(8)}${cpuUs.toFixed(0).padStart(8)}${difference}`;
  });
  return `${''.padEnd(32)}  p50 ms  p99 ms  cpu µs\n${lines.join('\n')}\n`;
}
