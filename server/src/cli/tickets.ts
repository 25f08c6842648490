import { ticketRows } from '../resources/tickets/queries.ts';
import type { Noun } from './command.ts';
import { exportOf } from './export.ts';

export const tickets: Noun = { verbs: { export: exportOf(ticketRows) } };
