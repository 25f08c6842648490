import { seed } from '../../prisma/seed.ts';
import { type Api, startApi } from './api.ts';

/**
 * An API with the demo workspace that the first start creates. Examples in the documentation use ids of the demo
 * workspace.
 */
export interface Demo {
  api: Api;
  /** An API key with every scope. */
  key: string;
  close(): Promise<void>;
}

export async function startDemo(): Promise<Demo> {
  const api = await startApi({ ownDatabase: true });
  const { key } = (await seed(api)) ?? {};
  if (key === undefined) throw new Error('The database was not empty.');
  return { api, key, close: () => api.close() };
}
