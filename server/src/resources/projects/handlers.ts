import { type Handlers, handlersOf } from '../handler-type.ts';
import { getProject, listProjects, projectRows } from './queries.ts';

export const projects: Handlers<'projects'> = handlersOf({ list: listProjects, rows: projectRows, get: getProject });
