import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, type Moving, runCommands } from './commands.ts';
import { compare } from './comparison.ts';
import { formatMove, type Move, type MovesReport } from './report.ts';
import { type System, type SystemOptions, startSystem, type Tenant } from './system.ts';
import { follow, write } from './traffic.ts';

export interface TenantMoveTestOptions extends SystemOptions, Pick<Moving, 'isWaitShortened'> {
  /** The commands to kill in each move. Tenants at the places 1, 2, 4, 8 … move in turn. */
  moves: Command[][];
  /** The number of tickets that clients of all tenants create and update per second. Clients of a moving tenant send more. */
  perSecond: number;
  onProgress?: (text: string) => void;
}

/** The pause of the additional clients of a moving tenant after each ticket, in milliseconds. */
const writerPauseMs = 50;
/** The time in which clients use a tenant before and after its move, in milliseconds. */
const calmMs = 1500;

/**
 * Moves tenants between two cells behind deploy/cells.cfg while clients use all tenants. Kills commands of each move, and
 * runs them again as docs/scaling.md describes. At the end, compares the data with the acknowledged requests.
 */
export async function runMoves(options: TenantMoveTestOptions): Promise<MovesReport> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const system = await startSystem(options, stops);
    const { cells, tenants, moving, counts } = system;
    let isWritten = false;
    const pauseMs = (1000 * tenants.length) / options.perSecond;
    const writers = tenants.map((tenant) => write(system, tenant, { name: 'w', pauseMs, isStopped: () => isWritten }));
    const followers = moving.map((tenant) => follow(system, tenant));
    stops.push(async () => {
      isWritten = true;
      system.isStopped = true;
      await Promise.all([...writers, ...followers]);
    });
    const moves: Move[] = [];
    for (const [i, killed] of options.moves.entries()) {
      const move = await moveTenant(system, moving[i % moving.length] as Tenant, { ...options, number: i, killed });
      moves.push(move);
      options.onProgress?.(
        `move ${i + 1} of ${options.moves.length}: ${formatMove(move)}; ${counts.failed.length} of ${counts.requests} requests failed`,
      );
    }
    isWritten = true;
    await Promise.all(writers);
    const found = await compare(system);
    const crashes = cells.flatMap(({ server }) => server.crashes);
    return { tenants: tenants.length, moves, ...counts, ...found, crashes };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Moves a tenant to the other cell while additional clients use it. */
async function moveTenant(system: System, tenant: Tenant, moving: Moving): Promise<Move> {
  let isStopped = false;
  const writers = ['a', 'b', 'c'].map((writer) =>
    write(system, tenant, {
      name: `${writer}${moving.number}`,
      pauseMs: writerPauseMs,
      isStopped: () => isStopped || system.isStopped,
    }),
  );
  await sleep(calmMs);
  const now = performance.now();
  tenant.lastAt = { reads: now, writes: now };
  tenant.longestMs = { reads: 0, writes: 0 };
  await runCommands(system, tenant, moving);
  await sleep(calmMs);
  isStopped = true;
  await Promise.all(writers);
  return {
    ...{ tenant: tenant.name, to: tenant.cell.name, tickets: tenant.size + tenant.written.size, killed: moving.killed },
    ...{ writePauseMs: Math.round(tenant.longestMs.writes), readPauseMs: Math.round(tenant.longestMs.reads) },
  };
}
