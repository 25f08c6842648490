import { type Endpoint, pathPrefix } from '@itsm-api/contract';
import { type Contract, contract } from '@itsm-api/contract/ts-rest';
import type { Answer, Api, Call } from './api.ts';
import { comment, ticket, unique, type Workspace, webhook } from './workspace.ts';

/** The path parameters and the body of a valid request to an endpoint. */
export interface Sample {
  params?: Record<string, number | string>;
  body?: Record<string, unknown>;
  /** The content and the name of the file, if the body of the request is a file. */
  file?: { content: string; name: string };
}

type Samples = {
  [Resource in keyof Contract]: { [Name in keyof Contract[Resource]]: (workspace: Workspace) => Promise<Sample> };
};

/** A valid request for every endpoint of the contract. If an endpoint has no sample, compilation fails. */
const samples: Samples = {
  ping: {
    get: async () => ({}),
  },
  me: {
    get: async () => ({}),
  },
  tickets: {
    list: async () => ({}),
    changes: async () => ({}),
    get: async (workspace) => ({ params: { id: (await workspace.createTicket()).id } }),
    create: async () => ({ body: ticket }),
    update: async (workspace) => ({ params: { id: (await workspace.createTicket()).id }, body: { title: 'Changed' } }),
    createMany: async () => ({ body: { tickets: [ticket, ticket] } }),
    updateMany: async (workspace) => ({
      body: { tickets: [{ id: (await workspace.createTicket()).id, title: 'Changed' }] },
    }),
    attach: async (workspace) => ({
      params: { id: (await workspace.createTicket()).id },
      file: { content: 'Connection lost.', name: 'vpn.log' },
    }),
  },
  comments: {
    list: async (workspace) => ({ params: { id: (await workspace.createTicket()).id } }),
    create: async (workspace) => ({ params: { id: (await workspace.createTicket()).id }, body: comment }),
    createMany: async (workspace) => ({
      params: { id: (await workspace.createTicket()).id },
      body: { comments: [comment, comment] },
    }),
    changes: async () => ({}),
  },
  attachments: {
    list: async (workspace) => ({ params: { id: (await workspace.createTicket()).id } }),
    get: async (workspace) => ({ params: { id: (await workspace.createAttachment()).id } }),
    download: async (workspace) => ({ params: { id: (await workspace.createAttachment()).id } }),
    delete: async (workspace) => ({ params: { id: (await workspace.createAttachment()).id } }),
  },
  links: {
    list: async (workspace) => ({ params: { id: (await workspace.createTicket()).id } }),
    create: async (workspace) => ({
      params: { id: (await workspace.createTicket()).id },
      body: { ticketId: (await workspace.createTicket()).id, type: 'RELATES_TO' },
    }),
    delete: async (workspace) => {
      const { id } = await workspace.createTicket();
      return { params: { id, linkId: (await workspace.createLink(id)).id } };
    },
  },
  approvals: {
    ofTicket: async (workspace) => ({ params: { id: (await workspace.createApproval()).ticketId } }),
    create: async (workspace) => ({
      params: { id: (await workspace.createTicket({ type: 'CHANGE' })).id },
      body: { approverId: (await workspace.createUser()).id },
    }),
    list: async () => ({}),
    get: async (workspace) => ({ params: { id: (await workspace.createApproval()).id } }),
    decide: async (workspace) => ({
      params: { id: (await workspace.createApproval(workspace.userId)).id },
      body: { decision: 'APPROVED' },
    }),
    // Only the approver and the user who requested the approval can withdraw it.
    delete: async (workspace) => ({ params: { id: (await workspace.createApproval(workspace.userId)).id } }),
  },
  assets: {
    list: async () => ({}),
    changes: async () => ({}),
    get: async (workspace) => ({ params: { id: (await workspace.createAsset()).id } }),
    create: async () => ({ body: { name: 'Laptop', assetTag: unique(), type: 'LAPTOP' } }),
    upsertMany: async () => ({
      body: { assets: [1, 2].map(() => ({ name: 'Laptop', assetTag: unique(), type: 'LAPTOP' })) },
    }),
    update: async (workspace) => ({ params: { id: (await workspace.createAsset()).id }, body: { name: 'Changed' } }),
  },
  articles: {
    list: async () => ({}),
    changes: async () => ({}),
    get: async (workspace) => ({ params: { id: (await workspace.createArticle()).id } }),
  },
  activities: {
    ofTicket: async (workspace) => ({ params: { id: (await workspace.createTicket()).id } }),
    ofTickets: async () => ({}),
    ofAsset: async (workspace) => ({ params: { id: (await workspace.createAsset()).id } }),
    ofAssets: async () => ({}),
  },
  projects: {
    list: async () => ({}),
    changes: async () => ({}),
    get: async (workspace) => ({ params: { id: (await workspace.createProject()).id } }),
  },
  tasks: {
    list: async (workspace) => ({ params: { id: (await workspace.createProject()).id } }),
    changes: async () => ({}),
    create: async (workspace) => ({
      params: { id: (await workspace.createProject()).id },
      body: { title: 'Order cables' },
    }),
    get: async (workspace) => ({ params: { taskId: (await workspace.createTask()).id } }),
    update: async (workspace) => ({
      params: { taskId: (await workspace.createTask()).id },
      body: { title: 'Changed' },
    }),
  },
  users: {
    list: async () => ({}),
    changes: async () => ({}),
    get: async (workspace) => ({ params: { id: (await workspace.createUser()).id } }),
  },
  teams: {
    list: async () => ({}),
    changes: async () => ({}),
    get: async (workspace) => ({ params: { id: (await workspace.createTeam()).id } }),
  },
  fields: {
    list: async () => ({}),
  },
  ticketCategories: {
    list: async () => ({}),
  },
  businessHours: {
    get: async () => ({}),
  },
  requestForms: {
    list: async () => ({}),
    changes: async () => ({}),
    get: async (workspace) => ({ params: { key: (await workspace.createForm()).key } }),
    submit: async (workspace) => ({ params: { key: (await workspace.createForm()).key }, body: { answers: {} } }),
  },
  proposals: {
    list: async () => ({}),
    create: async (workspace) => ({
      body: {
        reason: 'Clearer.',
        operation: 'tickets_update',
        params: { id: (await workspace.createTicket()).id },
        body: { title: 'Changed' },
      },
    }),
    get: async (workspace) => ({ params: { id: (await workspace.createProposal()).id } }),
    decide: async (workspace) => ({
      params: { id: (await workspace.createProposal()).id },
      body: { decision: 'ACCEPTED' },
    }),
    delete: async (workspace) => ({ params: { id: (await workspace.createProposal()).id } }),
  },
  document: {
    get: async () => ({}),
  },
  webhooks: {
    list: async () => ({}),
    get: async (workspace) => ({ params: { id: (await workspace.createWebhook()).id } }),
    create: async () => ({ body: webhook }),
    update: async (workspace) => ({
      params: { id: (await workspace.createDelivery()).webhookId },
      body: { url: 'https://hooks.example.com/changed' },
    }),
    test: async (workspace) => ({ params: { id: (await workspace.createDelivery()).webhookId } }),
    replay: async (workspace) => ({
      params: { id: (await workspace.createDelivery()).webhookId },
      body: { states: ['EXHAUSTED', 'DELIVERED'], since: '2026-11-20T10:00:00Z' },
    }),
    delete: async (workspace) => ({ params: { id: (await workspace.createWebhook()).id } }),
  },
  deliveries: {
    list: async (workspace) => ({ params: { id: (await workspace.createWebhook()).id } }),
    get: async (workspace) => ({ params: { id: (await workspace.createDelivery()).id } }),
    replay: async (workspace) => ({ params: { id: (await workspace.createDelivery()).id } }),
  },
};

/** An endpoint of the contract, with its name and a valid request. */
export interface SampledEndpoint {
  /** The method and path, for example `GET /tickets/:id`. */
  title: string;
  route: Endpoint;
  /** The HTTP status of a successful response. */
  success: number;
  sample(workspace: Workspace): Promise<Sample>;
}

/** Every endpoint of the contract. */
export const endpoints: SampledEndpoint[] = Object.entries(contract).flatMap(([resource, routes]) =>
  Object.entries(routes as Record<string, Endpoint>).map(([name, route]) => ({
    title: `${route.method} ${route.path.slice(pathPrefix.length)}`,
    route,
    success: Math.min(...Object.keys(route.responses).map(Number)),
    sample: (samples as Record<string, Record<string, SampledEndpoint['sample']>>)[resource]?.[
      name
    ] as SampledEndpoint['sample'],
  })),
);

/** The endpoints that require an API key. */
export const keyedEndpoints = endpoints.filter(({ route }) => route.metadata.scope !== null);

/**
 * Converts a sample to a request.
 * @param query the query string without a question mark
 */
export function callOf({ route }: SampledEndpoint, { params = {}, body, file }: Sample, query = ''): Call {
  const path = route.path.replace(/:(\w+)/g, (_, name) => String(params[name]));
  const parameters = [file && `name=${file.name}`, query].filter(Boolean).join('&');
  return {
    method: route.method,
    path: parameters === '' ? path : `${path}?${parameters}`,
    body: file?.content ?? body,
    ...(file && { headers: { 'content-type': 'text/plain' } }),
  };
}

/** The parts of a valid request that a test changes. */
type ChangedCall = Partial<Call> & Pick<Sample, 'params'> & { query?: string };

/**
 * Returns a function that sends a valid request with changes, by default with the key of the workspace. All requests use
 * the same sample, until the server accepts one that may have changed its row.
 */
export function createSender(endpoint: SampledEndpoint, server: () => { api: Api; workspace: Workspace }) {
  let sample: Sample | undefined;
  return async (given: ChangedCall | ((sample: Sample) => ChangedCall) = {}): Promise<Answer> => {
    const { api, workspace } = server();
    sample ??= await endpoint.sample(workspace);
    const { params = sample.params, query, ...changes } = typeof given === 'function' ? given(sample) : given;
    const call = callOf(endpoint, { ...sample, ...(params && { params }) }, query);
    const answer = await api.call({ key: workspace.key, ...call, ...changes });
    if (endpoint.route.method !== 'GET' && answer.status < 400) sample = undefined;
    return answer;
  };
}
