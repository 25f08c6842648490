import { seed } from '../../prisma/seed.ts';
import { type Api, startApi } from './api.ts';

/** An API over a demo workspace as the first start makes it, with the ids that examples name. */
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
