import { percentiles } from '../../../support/percentiles.ts';
import type { Command } from './commands.ts';
import type { Counts } from './system.ts';

export interface Move {
  tenant: string;
  to: string;
  /** The number of tickets at the end of the move. */
  tickets: number;
  killed: readonly Command[];
  /** The longest time without a successful write and without a successful read, in milliseconds. */
  writePauseMs: number;
  readPauseMs: number;
}

export interface MovesReport extends Counts {
  tenants: number;
  moves: Move[];
  /** The acknowledged tickets that are missing or outdated in the database. */
  lost: string[];
  /** The tickets that no acknowledged request created, and the creates that were executed twice. */
  extra: string[];
  /** The acknowledged tickets that are missing or outdated in the copy of a client that follows the change feed. */
  missed: string[];
  /** The creates without an event, and the events that the receiver didn't get. */
  undelivered: string[];
  /** The wrong totals, and the tickets that a tenant left in its old cell. */
  wrong: string[];
  crashes: string[];
}

/** Returns true if clients noticed only the announced maintenance. */
export function isUnnoticed(report: MovesReport): boolean {
  const { failed, lost, extra, missed, undelivered, wrong, crashes } = report;
  return [failed, lost, extra, missed, undelivered, wrong, crashes].flat().length === 0;
}

/** Formats the report for a terminal. */
export function formatMoves(report: MovesReport): string {
  const { tenants, moves, requests, acknowledged, unavailable } = report;
  const { failed, lost, extra, missed, undelivered, wrong } = report;
  const row = (name: string, figure: number | string) => `  ${name.padEnd(52)}${figure}\n`;
  const pause = (name: string, of: (move: Move) => number) => {
    const { p50, max } = percentiles(moves.map(of));
    return row(name, `${seconds(p50)}   ${seconds(max)}`);
  };
  return `
${row('Tenants', tenants)}\
${row('Moves, killed commands', `${moves.length}, ${moves.flatMap(({ killed }) => killed).length}`)}\
${row('Requests, acknowledged writes', `${requests}, ${acknowledged}`)}\
${row('503 during maintenance: writes, reads', `${unavailable.writes}, ${unavailable.reads}`)}\
${pause('Interruption of writes, median and longest', ({ writePauseMs }) => writePauseMs)}\
${pause('Interruption of reads, median and longest', ({ readPauseMs }) => readPauseMs)}
${row('Other failed requests', failed.length)}\
${row('Lost writes', lost.length)}\
${row('Writes without an acknowledgement, or applied twice', extra.length)}\
${row('Missing in the copy of a change feed', missed.length)}\
${row('Events that were not received', undelivered.length)}\
${row('Wrong totals, and rows in the old cell', wrong.length)}\
${[failed, lost, extra, missed, undelivered, wrong]
  .flat()
  .slice(0, 20)
  .map((each) => `\n  ${each}`)
  .join('')}`;
}

/** Describes a move in one line. */
export function formatMove({ tenant, tickets, to, killed, writePauseMs, readPauseMs }: Move): string {
  const interrupted = `writes interrupted for ${seconds(writePauseMs)}, reads for ${seconds(readPauseMs)}`;
  return `${tenant} with ${tickets} tickets to ${to}, ${killed.join(', ')} killed, ${interrupted}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
