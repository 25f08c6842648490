import type { Handlers } from '../handler-type.ts';
import { readDocument } from './queries.ts';

export const document: Handlers<'document'> = {
  get: async ({ request, reply }) => ({ status: 200, body: await readDocument(request, reply) }),
};
