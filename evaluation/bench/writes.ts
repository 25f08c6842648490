import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { openEmbedded } from '@itsm-api/server/embedded-postgres/embedded.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { median } from '../../test/support/percentiles.ts';
import { type Data, loadData } from './api/data.ts';
import { type Measured, startServer } from './api/servers.ts';
import { cpuOf, cpuOfFamily } from './api/usage.ts';
import { send } from './send.ts';

/** The throughput and CPU cost of one method of writing tickets. The figures are medians of the rounds. */
export interface WriteCost {
  way: string;
  rowsPerSecond: number;
  /** The CPU time of the API process and PostgreSQL per ticket, in microseconds. */
  cpuUs: number;
  /** The rows per second divided by those of the method `than` in the same round. The median of all rounds. */
  ratio: number;
}

interface WritesOptions {
  dataDir: string;
  tickets: number;
  rounds: number;
  onProgress: (text: string) => void;
}

/** The number of concurrent requests. */
const concurrency = 16;
/** The number of tickets that a method writes per round. */
const perRound = 4000;
const perBulk = 100;

/** A method of writing tickets: a request, and the number of tickets that the request writes. */
interface Way {
  way: string;
  /** The name of the method to compare with. */
  than: string;
  rows: number;
  ask(place: number): { method: string; path: string; body: object; headers?: Record<string, string> };
}

const ticket = { title: 'VPN drops', description: 'Every ten minutes.', type: 'INCIDENT', category: 'NETWORK' };
const several = <Item>(make: (index: number) => Item) => Array.from({ length: perBulk }, (_, index) => make(index));

/**
 * Returns the methods that update the title or the resolution of tickets. Full-text search covers only the title. Each
 * update changes a different ticket, because concurrent updates of one ticket wait for each other.
 */
function patchesOf({ ticketIds }: Data, field: 'resolution' | 'title'): Way[] {
  const change = (place: number) => ({ id: ticketIds[place % ticketIds.length], [field]: `Cable, ${randomUUID()}` });
  const way = `patch, ${field}`;
  return [
    {
      ...{ way, than: way, rows: 1 },
      ask(place) {
        const { id, ...body } = change(place);
        return { method: 'PATCH', path: `/tickets/${id}`, body };
      },
    },
    {
      ...{ way: `${way}, ${perBulk} in a request`, than: way, rows: perBulk },
      ask: (place) => ({
        method: 'PATCH',
        path: '/tickets/bulk',
        body: { tickets: several((index) => change(place * perBulk + index)) },
      }),
    },
  ];
}

function waysFor(data: Data): Way[] {
  return [
    { way: 'create', than: 'create', rows: 1, ask: () => ({ method: 'POST', path: '/tickets', body: ticket }) },
    {
      ...{ way: 'create, Idempotency-Key', than: 'create', rows: 1 },
      ask: () => ({ method: 'POST', path: '/tickets', body: ticket, headers: { 'idempotency-key': randomUUID() } }),
    },
    {
      ...{ way: `create, ${perBulk} in a request`, than: 'create', rows: perBulk },
      ask: () => ({ method: 'POST', path: '/tickets/bulk', body: { tickets: several(() => ticket) } }),
    },
    ...patchesOf(data, 'resolution'),
    ...patchesOf(data, 'title'),
  ];
}

/**
 * Measures all methods of writing tickets: single requests, requests with idempotency keys, and bulk requests. Each
 * round measures every method.
 */
export async function benchWrites(options: WritesOptions): Promise<{ table: string; result: WriteCost[] }> {
  const { dataDir, tickets, onProgress } = options;
  const database = await openEmbedded({ dataDir, holder: { type: 'command' } });
  try {
    await migrateDatabase(database.url);
    const data = await loadData(database.url, tickets, onProgress);
    const server = await startServer('api', database.url);
    try {
      const postgres = Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
      const result = await measure({ server, postgres, data }, options);
      return { table: tableOf(result), result };
    } finally {
      await server.stop();
    }
  } finally {
    await database.stop();
  }
}

interface Measurement {
  server: Measured;
  postgres: number;
  data: Data;
}

async function measure(
  measurement: Measurement,
  { rounds, onProgress }: Pick<WritesOptions, 'rounds' | 'onProgress'>,
): Promise<WriteCost[]> {
  const measured = waysFor(measurement.data).map((way) => ({ ...way, rates: [] as number[], costs: [] as number[] }));
  // The first round is a warm-up. The results exclude it.
  for (let round = 0; round <= rounds; round++) {
    onProgress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
    for (const each of measured) {
      const { seconds, cpuUs } = await writeSome(each, measurement);
      if (round === 0) continue;
      each.rates.push(perRound / seconds);
      each.costs.push(cpuUs / perRound);
    }
  }
  return measured.map(({ way, than, rates, costs }) => {
    const base = measured.find((each) => each.way === than)?.rates ?? [];
    const ratio = median(rates.map((rate, round) => rate / (base[round] ?? Number.NaN)));
    return { way, rowsPerSecond: Math.round(median(rates)), cpuUs: Math.round(median(costs)), ratio };
  });
}

/** Writes the tickets of a round with concurrent senders. Each sender waits for a response before its next request. */
async function writeSome({ rows, ask }: Way, { server, postgres, data: { keys } }: Measurement) {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const cpu = () => cpuOf(server.pid) + cpuOfFamily(postgres);
  const [began, before] = [performance.now(), cpu()];
  let place = 0;
  const work = async () => {
    while (place < perRound / rows) {
      const { method, path, body, headers } = ask(place);
      const authorization = `Bearer ${keys[place++ % keys.length]}`;
      const all = { authorization, 'content-type': 'application/json', ...headers };
      await send(new URL(`/api/public/v1${path}`, server.url), { agent, method, headers: all }, JSON.stringify(body));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  agent.destroy();
  return { seconds: (performance.now() - began) / 1000, cpuUs: cpu() - before };
}

function tableOf(costs: WriteCost[]): string {
  const lines = costs.map(({ way, rowsPerSecond, cpuUs, ratio }) =>
    [
      way.padEnd(36),
      rowsPerSecond.toFixed(0).padStart(9),
      cpuUs.toFixed(0).padStart(9),
      ratio.toFixed(2).padStart(9),
    ].join(''),
  );
  return `${''.padEnd(36)}tickets/s   cpu µs  × single\n${lines.join('\n')}\n`;
}
