import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createWebhook } from '@itsm-api/server/resources/webhooks/webhook-management.ts';
import { addWorkspace } from '../../../test/support/subscribed-workspaces.ts';
import { ask, startLoad } from './load.ts';
import { measurePhase, type Phase } from './phase.ts';
import { type Client, type Kind, kinds, newTicket, pageKinds } from './requests.ts';
import { productionRetention, type Soaked, soakImports, startSoaked } from './start.ts';

export interface CapacityOptions {
  /** How long each rate of the example lasts, in minutes. */
  minutes: number;
  tickets: number;
  /** The parts to run: `maximum`, `example`. The default is both. */
  only: string[] | undefined;
  onProgress: (text: string) => void;
}

interface CapacityResult {
  /** The maximum of the soak test's requests, by variant. */
  maximum: Record<string, Phase>;
  example: Example | undefined;
}

/**
 * The example in docs/scaling.md: the cores at each rate, measured and calculated. The calculation uses the cores of the
 * idle service and those at `referenceRate`. The busy service is unsuitable: its requests share the costs of waking up a
 * process, so each takes less CPU time.
 */
interface Example {
  busy: Phase;
  idle: Phase;
  reference: Phase;
  rates: { perSecond: number; measured: Phase; calculated: { api: number; worker: number; postgres: number } }[];
}

/** A measured value may differ from the calculated one by this factor. */
const maxFactor = 1.5;
const warmUpSeconds = 120;
const measuredSeconds = 60;
const exampleTenants = 1000;
const exampleRates = [150, 600];
const referenceRate = 300;
const referenceSeconds = 120;

/** The variants of the soak test's maximum. Each differs from the first in one respect. */
const variants: Record<string, { senders: number; imports: readonly URL[]; hasWebhooks: boolean }> = {
  'soak test': { senders: 16, imports: soakImports, hasWebhooks: true },
  'production retention': { senders: 16, imports: productionRetention, hasWebhooks: true },
  'no webhooks': { senders: 16, imports: soakImports, hasWebhooks: false },
  '64 senders': { senders: 64, imports: soakImports, hasWebhooks: true },
};

/**
 * Measures what limits the throughput of the soak test, and compares the example in docs/scaling.md with its formula
 * (evaluation/bench/README.md).
 */
export async function benchCapacity(
  options: CapacityOptions,
): Promise<{ table: string; result: CapacityResult; good: boolean }> {
  const { only = ['maximum', 'example'] } = options;
  const maximum: Record<string, Phase> = {};
  for (const name of only.includes('maximum') ? Object.keys(variants) : []) {
    options.onProgress(`Measuring the maximum: ${name}`);
    const phase = await measureMaximum(name, options);
    options.onProgress(describe(name, phase));
    maximum[name] = phase;
  }
  const example = only.includes('example') ? await measureExample(options) : undefined;
  const result = { maximum, example };
  return { table: tableOf(result), result, good: rowsOf(example).every(({ factor }) => isWithin(factor)) };
}

async function withSoaked<Result>(
  options: Parameters<typeof startSoaked>[0],
  measure: (soaked: Soaked) => Promise<Result>,
): Promise<Result> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    return await measure(await startSoaked(options, stops));
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function measureMaximum(name: string, options: CapacityOptions): Promise<Phase> {
  const { senders, imports, hasWebhooks } = variants[name] as (typeof variants)[string];
  return withSoaked({ ...options, imports }, async (soaked) => {
    if (!hasWebhooks) await soaked.client.query('UPDATE webhook_subscriptions SET active = false');
    return measureBusy(soaked, { clients: soaked.clients, kinds, senders });
  });
}

/** Measures concurrent senders that never pause, after they have warmed the service up. */
async function measureBusy(
  soaked: Soaked,
  { senders, ...load }: { clients: Client[]; kinds: readonly Kind[]; senders: number },
): Promise<Phase> {
  const busy = startLoad({ url: soaked.apiUrl, ...load, pace: { senders } });
  await sleep(warmUpSeconds * 1000);
  const phase = await measurePhase(soaked, measuredSeconds, busy);
  await busy.stop();
  return phase;
}

function measureExample({ minutes, ...options }: CapacityOptions): Promise<Example> {
  const { onProgress } = options;
  return withSoaked({ ...options, imports: [] }, async (soaked) => {
    const clients = await createExampleClients(soaked, onProgress);
    onProgress('Measuring the busy service');
    const busy = await measureBusy(soaked, { clients, kinds: pageKinds, senders: 16 });
    onProgress('Measuring the idle service');
    const idle = await measurePhase(soaked, measuredSeconds);
    const measureRate = async (perSecond: number, seconds: number) => {
      onProgress(`Measuring ${perSecond} requests per second for ${seconds / 60} minutes`);
      const load = startLoad({ url: soaked.apiUrl, clients, kinds: pageKinds, pace: { perSecond } });
      const phase = await measurePhase(soaked, seconds, load);
      await load.stop();
      return phase;
    };
    const reference = await measureRate(referenceRate, referenceSeconds);
    const rates: Example['rates'] = [];
    for (const perSecond of exampleRates) {
      const measured = await measureRate(perSecond, minutes * 60);
      rates.push({ perSecond, measured, calculated: calculate({ idle, reference }, measured) });
    }
    return { busy, idle, reference, rates };
  });
}

/** Creates a client for each tenant of the example. Each tenant has 20 tickets and one subscription to all events. */
async function createExampleClients(soaked: Soaked, onProgress: (text: string) => void): Promise<Client[]> {
  const agent = new Agent({ keepAlive: true });
  const urls = await soaked.receivers.open(new Array(10).fill(0));
  const clients: Client[] = [];
  for (let count = 0; count < exampleTenants; count++) {
    if (count % 100 === 0) onProgress(`creating tenants: ${count} of ${exampleTenants}`);
    const { context, key, userId } = await addWorkspace(soaked.runtime, `Example ${count}`);
    const { id: webhookId } = await createWebhook(context, {
      url: urls[count % urls.length] as string,
      secret: 'a secret, long enough for all',
      events: ['ticket.created', 'ticket.updated'],
    });
    const tickets = Array.from({ length: 20 }, newTicket);
    const made = await ask(agent, soaked.apiUrl, { method: 'POST', path: '/tickets/bulk', body: { tickets } }, key);
    const ids = (made.body as { data: { data: { id: number } }[] }).data.map(({ data }) => data.id);
    clients.push({ ...(soaked.clients[0] as Client), keys: [key], users: [userId], tickets: ids, open: [], webhookId });
  }
  agent.destroy();
  return clients;
}

/** Calculates the cores: those of the idle service, and the CPU time of each request and delivery. */
function calculate({ idle, reference }: Pick<Example, 'idle' | 'reference'>, rate: Phase) {
  const of = (name: 'api' | 'worker' | 'postgres', factor: number) =>
    idle.cores[name] + factor * (reference.cores[name] - idle.cores[name]);
  const requests = rate.perSecond / reference.perSecond;
  return {
    api: of('api', requests),
    worker: of('worker', rate.deliveriesPerSecond / reference.deliveriesPerSecond),
    postgres: of('postgres', requests),
  };
}

function isWithin(factor: number): boolean {
  return factor <= maxFactor && factor >= 1 / maxFactor;
}

function rowsOf(example: Example | undefined) {
  return (example?.rates ?? []).flatMap(({ perSecond, measured, calculated }) =>
    (['api', 'worker', 'postgres'] as const).map((name) => {
      const [cores, expected] = [measured.cores[name], calculated[name]];
      return { perSecond, name, cores, expected, factor: cores / expected, load: measured.load };
    }),
  );
}

function tableOf({ maximum, example }: CapacityResult): string {
  const { busy, idle, reference } = example ?? {};
  const phases: Record<string, Phase | undefined> = { ...maximum, 'example, busy': busy, idle, reference };
  const described = Object.entries(phases).flatMap(([name, phase]) => (phase ? [describe(name, phase)] : []));
  const compared = rowsOf(example).map(
    ({ perSecond, name, cores, expected, factor, load }) =>
      `${String(perSecond).padStart(4)}/s  ${name.padEnd(8)}  ${cores.toFixed(3)} cores measured, ${expected.toFixed(3)} ` +
      `calculated, factor ${factor.toFixed(2)}${isWithin(factor) ? '' : ' MISSED'}, load ${load.toFixed(1)}`,
  );
  return `${[...described, ...compared].join('\n')}\n`;
}

function describe(name: string, { cores, waits, ...phase }: Phase): string {
  const listed = (values: Record<string, number>) =>
    Object.entries(values)
      .map(([key, value]) => `${key} ${value.toFixed(2)}`)
      .join(', ');
  const { perSecond, deliveriesPerSecond, p50, p99, lagMs, waitingForPool, load } = phase;
  return `${name}: ${perSecond.toFixed(0)} requests and ${deliveriesPerSecond.toFixed(0)} deliveries per second
  cores             ${listed(cores)}
  latency           p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms; event loop ${lagMs.toFixed(0)} ms
  waits (sessions)  ${waitingForPool.toFixed(2)} for the pool, ${listed(waits)}; load ${load.toFixed(1)}`;
}
