import { ok } from '../../shared/responses.ts';
import type { Handlers } from '../all-handlers.ts';

export const ping: Handlers<'ping'> = {
  get: async () => ok({ status: 'ok', version: 'v1' }),
};
