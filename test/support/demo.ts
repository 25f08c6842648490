import { seed } from '../../prisma/seed.ts';
import { type Api, startApi } from './api.ts';

/** Starts an API with the demo workspace of the first start, and returns the ids that examples use. */
export interface Demo {
  api: Api;
  /** Has every scope. */
  key: string;
  close(): Promise<void>;
}

export async function startDemo(): Promise<Demo> {
  const api = await startApi({ ownDatabase: true });
  const { key } = (await seed(api.prisma)) ?? {};
  if (key === undefined) throw new Error('The database was not empty.');
  return { api, key, close: () => api.close() };
}
