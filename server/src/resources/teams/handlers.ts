import { type Handlers, handlersOf } from '../handler-type.ts';
import { getTeam, listTeams, teamRows } from './queries.ts';

export const teams: Handlers<'teams'> = handlersOf({ list: listTeams, rows: teamRows, get: getTeam });
