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
  /** Prepares the rows of an operation that an earlier operation in `demoOrder` has changed. */
  prepare(operationId: string): Promise<void>;
  close(): Promise<void>;
}

export async function startDemo(): Promise<Demo> {
  const api = await startApi({ ownDatabase: true });
  const { key } = (await seed(api)) ?? {};
  if (key === undefined) throw new Error('The database was not empty.');
  const prepare = async (operationId: string) => {
    // The proposal is decided, and another key has proposed it.
    if (operationId === 'proposals_delete')
      await api.prisma.proposal.updateMany({ data: { status: 'PENDING', keyId: 1 } });
    if (operationId !== 'approvals_delete') return;
    // The approval is decided. A change of the title makes it pending again.
    const body = { title: 'Upgrade the ERP to release 12.1' };
    await api.call({ method: 'PATCH', path: '/api/public/v1/tickets/CHG-4', key, body });
  };
  return { api, key, prepare, close: () => api.close() };
}
