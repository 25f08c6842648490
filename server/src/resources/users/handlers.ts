import { type Handlers, handlersOf } from '../handler-type.ts';
import { getUser, listUsers, userRows } from './queries.ts';

export const users: Handlers<'users'> = handlersOf({ list: listUsers, rows: userRows, get: getUser });
