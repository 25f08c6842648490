import { ok } from '../../reply.ts';
import type { Handlers } from '../handlers.ts';

export const ping: Handlers<'ping'> = {
  get: async () => ok({ status: 'ok', version: 'v1' }),
};
