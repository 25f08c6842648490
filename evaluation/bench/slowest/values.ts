import { busiestTicket, largestTicket } from './records.ts';

/** Values of the parameters of an endpoint, by name. */
export type Values = Readonly<Record<string, readonly string[]>>;

const times = ['2009-01-01', '2020-01-01', '2023-01-01', '2025-11-01', '2035-01-01'].map((day) => `${day}T00:00:00Z`);
const unknownId = '999999999';
/** A frequent word, a rare one, a unique one, an absent one, a prefix and two words. */
const words = ['network', 'zebra', 'INC-17', 'nowhere', 'print', 'connection word17'];

/**
 * Values for the parameters of each list. If the data has such values (records.ts, tickets.ts), one matches no row, one
 * matches few rows, and one matches at least half of the rows.
 */
export const listValues: Readonly<Record<string, Values>> = {
  '/tickets': {
    status: ['OPEN', 'CLOSED', 'OPEN,IN_PROGRESS,PENDING', 'CANCELLED'],
    priority: ['MEDIUM', 'CRITICAL', 'LOW,HIGH'],
    assigneeId: ['2', 'none', '12,13,14', '509', unknownId],
    teamId: ['1', 'none', '50', '2,3', unknownId],
    type: ['INCIDENT', 'PROBLEM', 'CHANGE,SERVICE_REQUEST'],
    category: ['NETWORK', 'EMAIL', 'SOFTWARE,ACCESS'],
    categoryConfigId: ['cat-1', 'cat-150', 'cat-999'],
    formKey: ['access', 'new-hire', 'none-such'],
    requesterId: ['5', '18000', '10,11', unknownId],
    parentId: [String(busiestTicket), '20001', unknownId],
    watcherUserId: ['6', '1000', '5'],
    externalId: ['EXT-3500001', 'none-such'],
    assetId: ['1', '9000', '1,12', unknownId],
    tag: ['common', 'vip', 'legacy', 'rare', 'common,vip', 'none-such'],
    customFields: [
      '[site]=hq',
      '[site]=ship',
      '[site]=branch,ship',
      '[stage]=production',
      '[site]=hq&customFields[stage]=test',
    ],
    createdSince: times,
    createdBefore: times,
    dueSince: times,
    dueBefore: times,
    plannedSince: times,
    plannedBefore: times,
    approvalStatus: ['APPROVED', 'PENDING', 'NONE'],
    overdue: ['true'],
    firstResponseOverdue: ['true'],
    q: words,
    sort: ['-id', 'id'],
  },
  '/assets': {
    status: ['IN_USE', 'LOST'],
    type: ['LAPTOP', 'PRINTER'],
    assignedToId: ['2', unknownId],
    externalId: ['none-such'],
    assetTag: ['A17'],
    serialNumber: ['S17'],
    tag: ['common', 'none-such'],
    customFields: ['[field1]=option 1', '[field1]=option 20'],
    q: ['laptop', 'A17', 'nowhere'],
  },
  '/articles': { category: ['Network', 'Email'], q: ['network', 'nowhere'] },
  '/projects': { status: ['ACTIVE', 'CANCELLED'], q: ['project', 'nowhere'] },
  '/projects/:id/tasks': {
    status: ['TODO', 'BLOCKED'],
    priority: ['HIGH', 'LOW'],
    assigneeId: ['2', unknownId],
    q: ['cable', 'nowhere'],
  },
  '/users': {
    role: ['REQUESTER', 'ADMIN'],
    active: ['true', 'false'],
    email: ['user17@example.com'],
    q: ['user', 'nowhere'],
  },
  '/teams': { active: ['true', 'false'] },
  '/custom-fields': { resource: ['TICKET', 'ASSET'] },
  '/approvals': { approverId: ['2', '11', unknownId], decision: ['APPROVED', 'PENDING', 'REJECTED'] },
  '/proposals': {
    status: ['REJECTED', 'PENDING', 'STALE'],
    operation: ['tickets_update', 'tasks_create'],
    target: ['TICKET:17'],
    proposedById: ['2', unknownId],
  },
  '/tickets/:id/comments': { externalId: ['none-such'] },
  '/webhooks/:id/deliveries': { state: ['DELIVERED', 'EXHAUSTED', 'PENDING'] },
};

/** The path parameters of each endpoint that has one. They name the rows with the most or the largest content. */
export const pathValues: Readonly<Record<string, readonly string[]>> = {
  '/tickets/:id': [String(largestTicket), String(busiestTicket)],
  '/tickets/:id/attachments': [String(busiestTicket)],
  '/tickets/:id/comments': [String(busiestTicket)],
  '/tickets/:id/links': [String(busiestTicket)],
  '/tickets/:id/approvals': ['17'],
  '/tickets/:id/activity': [String(busiestTicket)],
  '/assets/:id/activity': ['2'],
  '/attachments/:id': ['1'],
  // The storage doesn't contain the files.
  '/attachments/:id/content': [],
  '/approvals/:id': ['1'],
  '/assets/:id': ['2'],
  '/articles/:id': ['100'],
  '/proposals/:id': ['17'],
  '/projects/:id': ['1'],
  '/projects/:id/tasks': ['1'],
  '/tasks/:taskId': ['1'],
  '/users/:id': ['2'],
  '/teams/:id': ['1'],
  '/request-forms/:key': ['access', 'form-1'],
  '/webhooks/:id': ['1'],
  '/webhooks/:id/deliveries': ['1'],
  '/deliveries/:id': ['1'],
};

const text = 'The connection is lost again. ';

/** The bodies of the bulk writes, with 100 items and as many references as possible. `run` makes requests differ. */
export const bulkBodies: Readonly<Record<string, (run: number) => object>> = {
  'POST /tickets/bulk': (run) => ({
    tickets: items((i) => ({
      ...references(i),
      type: 'INCIDENT',
      description: text.repeat(20),
      title: `${text} ${run}`,
    })),
  }),
  'PATCH /tickets/bulk': (run) => ({
    tickets: items((i) => ({ ...references(i + run), id: 2001 + 2 * i, title: `${text} ${run} ${i}` })),
  }),
  'POST /tickets/:id/comments/bulk': (run) => ({
    comments: items((i) => ({ body: `${text.repeat(100)} ${run} ${i}`, visibility: 'PUBLIC' })),
  }),
  'POST /assets/upsert': (run) => ({
    assets: items((i) => ({
      assetTag: `A${1000 + i}`,
      name: `Laptop ${run} ${i}`,
      type: 'LAPTOP',
      assignedToId: 10 + i,
      tags: ['common'],
    })),
  }),
};

function items<Item>(build: (index: number) => Item): Item[] {
  return Array.from({ length: 100 }, (_, index) => build(index));
}

function references(i: number): object {
  return {
    category: 'NETWORK',
    priority: 'HIGH',
    assigneeId: 10 + (i % 90),
    teamId: 1 + (i % 50),
    watcherUserIds: items((n) => 11 + n + (i % 7)),
    assetIds: items((n) => 11 + n + (i % 7)).slice(0, 50),
    tags: items((n) => `tag-${n + (i % 7)}`).slice(0, 10),
    parentId: busiestTicket,
    customFields: { site: 'hq', stage: 'test' },
  };
}
