import type { ProposalOperation } from '@itsm-api/contract';
import { comment, ticket, unique, type Workspace } from './workspace.ts';

/** Create a request of each operation that can be proposed: its parameters and its body. */
export const proposedRequests: { [Name in ProposalOperation]: (workspace: Workspace) => Promise<object> } = {
  tickets_create: async () => ({ body: ticket }),
  tickets_update: async (workspace) => ({
    params: { id: (await workspace.createTicket()).id },
    body: { priority: 'HIGH', tags: ['vip'], externalId: unique() },
  }),
  comments_create: async (workspace) => ({ params: { id: (await workspace.createTicket()).id }, body: comment }),
  links_create: async (workspace) => ({
    params: { id: (await workspace.createTicket()).id },
    body: { type: 'BLOCKS', ticketId: (await workspace.createTicket()).id },
  }),
  assets_create: async () => ({ body: { name: 'Laptop', assetTag: unique(), type: 'LAPTOP', externalId: unique() } }),
  assets_update: async (workspace) => ({
    params: { id: (await workspace.createAsset()).id },
    body: { assignedToId: workspace.userId, externalId: unique() },
  }),
  assets_upsertMany: async (workspace) => {
    const { assetTag } = await workspace.createAsset();
    return {
      body: {
        assets: [
          { assetTag, location: 'Berlin' },
          { assetTag: unique(), name: 'Switch', type: 'NETWORK' },
        ],
      },
    };
  },
  tasks_create: async (workspace) => ({
    params: { id: (await workspace.createProject()).id },
    body: { title: 'Order cables' },
  }),
  tasks_update: async (workspace) => ({
    params: { taskId: (await workspace.createTask()).id },
    body: { status: 'DONE' },
  }),
  requestForms_submit: async (workspace) => ({
    params: { key: (await workspace.createForm()).key },
    body: { answers: {} },
  }),
};
