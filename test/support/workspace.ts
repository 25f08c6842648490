import { randomBytes } from 'node:crypto';
import type {
  AdministeredForm,
  Approval,
  Article,
  Asset,
  Attachment,
  CategoryConfig,
  Comment,
  CustomFieldDefinition,
  Delivery,
  Link,
  NewArticle,
  NewAsset,
  NewCategoryConfig,
  NewComment,
  NewCustomFieldDefinition,
  NewLink,
  NewProject,
  NewRequestForm,
  NewTask,
  NewTeam,
  NewTicket,
  NewUser,
  NewWebhook,
  Project,
  Proposal,
  RequestFormField,
  Scope,
  Task,
  Team,
  Ticket,
  User,
  Webhook,
} from '@itsm-api/contract';
import { pathPrefix, scopes } from '@itsm-api/contract';
import { hashKey, newKey } from '@itsm-api/server/auth/api-keys/key-format.ts';
import { tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import { createArticle, getArticle, updateArticle } from '@itsm-api/server/resources/articles/queries.ts';
import { createAsset } from '@itsm-api/server/resources/assets/queries.ts';
import { createCustomFieldDefinition } from '@itsm-api/server/resources/custom-fields/queries.ts';
import { createProject } from '@itsm-api/server/resources/projects/queries.ts';
import { createForm } from '@itsm-api/server/resources/request-forms/queries.ts';
import type { UserContext } from '@itsm-api/server/resources/shared/context.ts';
import { teams } from '@itsm-api/server/resources/teams/queries.ts';
import { createTicketCategory } from '@itsm-api/server/resources/ticket-categories/queries.ts';
import { createApproval } from '@itsm-api/server/resources/tickets/approvals/queries.ts';
import { createUser } from '@itsm-api/server/resources/users/user-management.ts';
import { type TenantId, toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import type { Answer, Api } from './api.ts';

/** A tenant for a test, with a user and an API key that has all scopes. Its functions create rows in the tenant. */
export interface Workspace {
  tenantId: TenantId;
  /** The id of the API key's user. */
  userId: number;
  key: string;
  context: UserContext;
  /** Calls an endpoint with the API key of the workspace. The path is relative to the API prefix. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  createKey(options?: {
    scopes?: Scope[];
    isImport?: boolean;
    isProposing?: boolean;
    expiresAt?: Date;
    revokedAt?: Date;
  }): Promise<string>;
  createUser(overrides?: Partial<NewUser>): Promise<User>;
  createTicket(overrides?: Partial<NewTicket>): Promise<Ticket>;
  createComment(ticketId: number, overrides?: Partial<NewComment>): Promise<Comment>;
  /** Attaches a file to a ticket, or to a new ticket. */
  createAttachment(ticketId?: number, file?: { content?: string | Buffer; name?: string }): Promise<Attachment>;
  /** Links a ticket to another ticket, or to a new ticket. */
  createLink(ticketId: number, overrides?: Partial<NewLink>): Promise<Link>;
  /** Requests an approval of a CHANGE, or of a new one, in the name of another user. The default approver is new. */
  createApproval(approverId?: number, ticketId?: number): Promise<Approval>;
  createAsset(overrides?: Partial<NewAsset>): Promise<Asset>;
  /** Creates a published article. */
  createArticle(overrides?: Partial<NewArticle>): Promise<Article>;
  createProject(overrides?: Partial<NewProject>): Promise<Project>;
  createTask(overrides?: Partial<NewTask>, project?: Project): Promise<Task>;
  createTeam(overrides?: Partial<NewTeam>): Promise<Team>;
  /** Defines a custom field of tickets: a TEXT that is not required. */
  createField(overrides?: Partial<NewCustomFieldDefinition>): Promise<CustomFieldDefinition>;
  createTicketCategory(overrides?: Partial<NewCategoryConfig>): Promise<CategoryConfig>;
  /** Creates a form without fields. A field of a form needs only its key. */
  createForm(
    overrides?: Partial<Omit<NewRequestForm, 'fields'>> & { fields?: Partial<RequestFormField>[] },
  ): Promise<AdministeredForm>;
  /** Proposes a request: by default, to change the title of a new ticket. */
  createProposal(proposed?: Record<string, unknown>): Promise<Proposal>;
  createWebhook(overrides?: Partial<NewWebhook>): Promise<Webhook>;
  /**
   * Creates a delivery. All calls use the same subscription, because a workspace has a maximum number of subscriptions.
   */
  createDelivery(): Promise<Delivery>;
}

export async function createWorkspace(api: Api): Promise<Workspace> {
  const name = `Workspace ${unique()}`;
  const tenant = await api.prisma.tenant.create({ data: { name, nameKey: name.toLowerCase() } });
  const tenantId = toTenantId(tenant.id);
  const db = tenantClient(api.databases.system, tenantId);
  const addUser = (overrides: Partial<NewUser> = {}) =>
    createUser({ db }, { name: 'Sam Field', email: `${unique()}@example.com`, role: 'AGENT', ...overrides });
  const admin = await addUser({ role: 'ADMIN' });

  const addKey = async (options: Parameters<Workspace['createKey']>[0] = {}) => {
    const key = newKey();
    const { id } = await api.prisma.apiKey.create({
      data: {
        tenantId,
        userId: BigInt(admin.id),
        name: 'test',
        hash: hashKey(key),
        lastFour: key.slice(-4),
        scopes: options.scopes ?? Object.keys(scopes),
        isImport: options.isImport ?? false,
        isProposing: options.isProposing ?? false,
        expiresAt: options.expiresAt ?? null,
        revokedAt: options.revokedAt ?? null,
      },
    });
    return { id, key };
  };
  const createKey: Workspace['createKey'] = async (options) => (await addKey(options)).key;
  const { id: keyId, key } = await addKey();
  const context: UserContext = { ...api.services, db, userId: BigInt(admin.id), keyId };
  const call: Workspace['call'] = (method, path, body, headers = {}) =>
    api.call({ method, path: pathPrefix + path, key, body, headers });
  const made = async (path: string, body: unknown, headers?: Record<string, string>) => {
    const response = await call('POST', path, body, headers);
    if (response.status !== 201) throw new Error(`POST ${path} returned ${response.text}`);
    return response.body.data;
  };

  let ofDeliveries: Promise<Webhook> | undefined;

  const addProject: Workspace['createProject'] = (overrides = {}) =>
    createProject(context, { key: `P${unique().toUpperCase()}`.slice(0, 20), name: 'New office', ...overrides });

  return {
    tenantId,
    userId: admin.id,
    key,
    context,
    call,
    createKey,
    createUser: addUser,
    createTicket: (overrides = {}) => made('/tickets', { ...ticket, ...overrides }),
    createComment: (ticketId, overrides = {}) => made(`/tickets/${ticketId}/comments`, { ...comment, ...overrides }),
    createAttachment: async (ticketId, { content = 'Connection lost.', name = 'vpn.log' } = {}) => {
      const id = ticketId ?? (await made('/tickets', ticket)).id;
      const path = `/tickets/${id}/attachments?name=${encodeURIComponent(name)}`;
      return made(path, content, { 'content-type': 'text/plain' });
    },
    createLink: async (ticketId, overrides = {}) => {
      const other = overrides.ticketId ?? (await made('/tickets', ticket)).id;
      return made(`/tickets/${ticketId}/links`, { type: 'RELATES_TO', ...overrides, ticketId: other });
    },
    createApproval: async (approverId, ticketId) => {
      const other = BigInt((await addUser()).id);
      const id = ticketId ?? (await made('/tickets', { ...ticket, type: 'CHANGE', requesterId: Number(other) })).id;
      return createApproval({ ...context, userId: other }, id, { approverId: approverId ?? (await addUser()).id });
    },
    createAsset: (overrides = {}) =>
      createAsset(context, { name: 'Laptop', assetTag: `LT-${unique()}`, type: 'LAPTOP', ...overrides }),
    createArticle: async (overrides = {}) => {
      const { id } = await createArticle(context, { title: 'Reset the VPN', body: 'Restart it.', ...overrides });
      await updateArticle(context, id, { status: 'PUBLISHED' });
      return getArticle(context, id);
    },
    createProject: addProject,
    createTask: async (overrides = {}, project) => {
      const { id } = project ?? (await addProject());
      return made(`/projects/${id}/tasks`, { title: 'Order cables', ...overrides });
    },
    createTeam: (overrides = {}) => teams.create(context, { name: `Team ${unique()}`, ...overrides }),
    createField: (overrides = {}) =>
      createCustomFieldDefinition(context, {
        resource: 'TICKET',
        key: `f${unique()}`,
        type: 'TEXT',
        label: 'Site',
        ...overrides,
      }),
    createTicketCategory: (overrides = {}) =>
      createTicketCategory(context, { id: `category-${unique()}`, name: 'VPN', ...overrides }),
    createForm: ({ fields = [], ...overrides } = {}) =>
      createForm(context, {
        ...{ key: `f${unique()}`, name: 'New laptop', type: 'SERVICE_REQUEST', category: 'HARDWARE' },
        ...overrides,
        fields: fields.map((field) => ({ key: '', required: false, default: null, fixed: null, help: null, ...field })),
      }),
    createProposal: async (proposed) => {
      const ofTicket = async () => ({
        operation: 'tickets_update',
        params: { id: (await made('/tickets', ticket)).id },
        body: { title: 'Changed' },
      });
      return made('/proposals', { reason: 'Clearer.', ...(proposed ?? (await ofTicket())) });
    },
    createWebhook: (overrides = {}) => made('/webhooks', { ...webhook, ...overrides }),
    createDelivery: async () => {
      ofDeliveries ??= made('/webhooks', webhook);
      const { id } = await ofDeliveries;
      return made(`/webhooks/${id}/test`, undefined);
    },
  };
}

/** The body of a new ticket with only the required fields. */
export const ticket = {
  title: 'VPN drops',
  description: 'Every ten minutes.',
  type: 'INCIDENT',
  category: 'NETWORK',
} as const satisfies NewTicket;

export const comment = { body: 'Does it still happen?', visibility: 'PUBLIC' } as const satisfies NewComment;

export const webhook = {
  url: 'https://hooks.example.com/itsm',
  secret: 'a secret of the test, long enough',
  events: ['ticket.created', 'ticket.updated'],
} satisfies NewWebhook;

export function unique(): string {
  return randomBytes(6).toString('hex');
}
