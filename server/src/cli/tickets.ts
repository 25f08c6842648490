import type { Command } from 'commander';
import { ticketRows } from '../resources/tickets/queries.ts';
import { addExport } from './export.ts';

export function addTickets(program: Command): void {
  addExport(program.command('tickets').description('Export tickets'), ticketRows);
}
