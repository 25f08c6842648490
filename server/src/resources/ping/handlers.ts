import { ok } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';

export const ping: Handlers<'ping'> = {
  get: async () => ok({ status: 'ok', version: 'v1' }),
};
