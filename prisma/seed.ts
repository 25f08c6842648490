import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { type ActivityAction, type Changes, type Priority, Scope } from '../contract/src/index.ts';
import type { Prisma, Ticket } from '../server/generated/prisma/client.ts';
import { invitationDays } from '../server/src/auth/accounts/invitations.ts';
import { newToken } from '../server/src/auth/accounts/token.ts';
import { storedOf } from '../server/src/auth/api-keys/api-keys.ts';
import { newKey } from '../server/src/auth/api-keys/key-format.ts';
import type { PrismaClient } from '../server/src/database/client/prisma.ts';
import { createUnique } from '../server/src/database/unique-violation.ts';
import type { Recorded } from '../server/src/resources/activities/record.ts';
import { redactedText } from '../server/src/resources/privacy/redacted-copy.ts';
import { tenantNameKey } from '../server/src/resources/tenants/queries.ts';
import { formatTicketNumber } from '../server/src/resources/tickets/ticket-number.ts';
import { toTenantId } from '../server/src/shared/tenant-id.ts';
import type { AttachmentStorage } from '../server/src/storage/attachment-storage.ts';
import { articles, assets, type CommentFacts, links, type Person, people, projects, tickets } from './demo-data.ts';

/** The credentials for a new demo workspace. The API key can't be read again later. */
export interface DemoWorkspace {
  key: string;
  /** The name of the tenant. */
  tenant: string;
  adminEmail: string;
  /** The token of the administrator's sign-in link. The link works once, and only on this machine. */
  invitation: string;
}

/** Where a demo workspace is created: the database, and the storage of attachments. */
interface Target {
  prisma: PrismaClient;
  services: { storage: AttachmentStorage };
}

/**
 * Creates a demo workspace in an empty database. If the database contains a tenant, does nothing and returns undefined.
 */
export function seed({ prisma, services: { storage } }: Target): Promise<DemoWorkspace | undefined> {
  return prisma.$transaction(async (tx) => {
    if (await tx.tenant.findFirst({ select: { id: true } })) return undefined;
    return fill(tx, tenantName, { users: await addTenant(tx, tenantName), storage });
  });
}

/**
 * Creates a demo workspace in a database that already contains other workspaces.
 * @param addOlder adds tickets that were created before `to`. It runs before the demo tickets are added.
 * @throws ApiError VALIDATION_ERROR if another workspace has the same name
 */
export async function seedAnother(
  { prisma, services: { storage } }: Target,
  name: string,
  addOlder: (tenantId: bigint, to: Date) => Promise<void>,
): Promise<DemoWorkspace> {
  const users = await prisma.$transaction((tx) => addTenant(tx, name));
  await addOlder(users.ada.tenantId, moment(-daysSinceStart));
  return prisma.$transaction((tx) => fill(tx, name, { users, storage }));
}

async function addTenant(tx: Transaction, name: string): Promise<Users> {
  const data = { name, nameKey: tenantNameKey(name), ...unchangedSince(daysSinceStart) };
  const { id } = await createUnique(
    'name',
    `${name} is already used by another tenant or by an interrupted seed. Choose another name.`,
    () => tx.tenant.create({ data }),
  );
  return addUsers(tx, id);
}

async function fill(
  tx: Transaction,
  tenant: string,
  { users, storage }: { users: Users; storage: AttachmentStorage },
): Promise<DemoWorkspace> {
  const tickets = await addTickets(tx, users, await addAssets(tx, users));
  await addAttachment(tx, storage, { ticketId: tickets.get('INC-17') as bigint, uploader: users.priya });
  await addProjects(tx, users);
  await addArticles(tx, users);

  const { tenantId, id: userId, email } = users.ada;
  const key = newKey();
  await tx.apiKey.create({
    data: { tenantId, userId, name: 'demo', scopes: Scope.options, ...storedOf(key) },
  });
  // The value of this key is discarded. The key shows a service account with a key that expires soon.
  await tx.apiKey.create({
    data: {
      ...{ tenantId, userId: users.exporter.id, name: 'nightly export', ...storedOf(newKey()) },
      ...{ scopes: ['tickets:read', 'users:read'], allowedNetworks: ['192.0.2.0/24'], expiresAt: moment(20) },
    },
  });
  await tx.auditEntry.createMany({
    data: [
      {
        ...{ tenantId, userId, at: moment(-20), action: 'user.updated', targetType: 'user', targetId: users.jonas.id },
        ...{ changes: { role: { from: 'REQUESTER', to: 'AGENT' } }, address: '192.0.2.10', userAgent: 'Mozilla/5.0' },
      },
      {
        ...{ tenantId, osUser: 'itsm', at: moment(-1), action: 'settings.updated' },
        ...{ targetType: 'workspace', targetId: tenantId, address: '', userAgent: '' },
        changes: { resolutionTargets: { from: { LOW: 2880 }, to: { LOW: 4320 } } },
      },
    ],
  });
  const [invitation, discarded] = [newToken(toTenantId(tenantId)), newToken(toTenantId(tenantId))];
  const expiresAt = moment(invitationDays);
  await tx.invitation.createMany({
    data: [
      { tenantId, userId, hash: invitation.hash, demo: true, expiresAt },
      // The token of this link is discarded. The list of users shows a user who was invited and hasn't joined.
      { tenantId, userId: users.jonas.id, hash: discarded.hash, expiresAt },
    ],
  });
  return { key, tenant, adminEmail: email, invitation: invitation.text };
}

type Transaction = Prisma.TransactionClient;
type Users = Record<Person, { tenantId: bigint; id: bigint; email: string }>;

async function addUsers(tx: Transaction, tenantId: bigint): Promise<Users> {
  const add = (person: Person) =>
    tx.user.create({ data: { tenantId, ...people[person], ...unchangedSince(daysSinceStart) } });
  return {
    ...{ ada: await add('ada'), jonas: await add('jonas'), priya: await add('priya') },
    exporter: await add('exporter'),
  };
}

/**
 * Returns the ids of the demo tickets by number.
 * @param assetIds the ids of the demo assets by tag, in ascending order
 */
async function addTickets(
  tx: Transaction,
  users: Users,
  assetIds: ReadonlyMap<string, bigint>,
): Promise<Map<string, bigint>> {
  const { tenantId } = users.ada;
  const before = await tx.ticketSequence.findUnique({ where: { tenantId } });
  const lastNumbers = {
    INCIDENT: before?.incident ?? 0,
    PROBLEM: before?.problem ?? 0,
    CHANGE: before?.change ?? 0,
    SERVICE_REQUEST: before?.serviceRequest ?? 0,
  };
  const numbered = { ...lastNumbers };
  let ordinal = before?.total ?? 0;
  const ids = new Map<string, bigint>();
  const history: DemoActivity[] = [];
  for (const [facts, title, description, resolution = null, extras = {}] of tickets) {
    const [daysAgo, type, category, priority, status, requester, assignee, hours] = facts;
    const { parent, watchers = [], concerned = [], comments = [], ...columns } = extras;
    const number = ++lastNumbers[type];
    // The numbers in `tickets` start at 1, even if `addOlder` has already added tickets to the database.
    const demoNumber = formatTicketNumber(type, number - numbered[type]);
    ordinal++;
    const resolvedAt = status === 'RESOLVED' || status === 'CLOSED' ? moment(-daysAgo, hours) : null;
    const createdAt = moment(-daysAgo);
    const hoursLater = (count: number) => hoursAfter(createdAt, count);
    const isResponse = ([, author, visibility]: CommentFacts) =>
      visibility === 'PUBLIC' && author !== requester && people[author].role !== 'REQUESTER';
    const response = comments.find(isResponse);
    const closedAt = status === 'CLOSED' ? moment(-daysAgo, hours + hoursUntilClosed) : null;
    const ticket = await tx.ticket.create({
      data: {
        ...columns,
        ...{
          tenantId,
          ordinal,
          type,
          number,
          title,
          description,
          status,
          priority,
          category,
          resolution,
          resolvedAt,
          closedAt,
        },
        requesterId: users[requester].id,
        assigneeId: assignee && users[assignee].id,
        parentId: parent === undefined ? null : (ids.get(parent) ?? null),
        assetIds: [...assetIds].filter(([tag]) => concerned.includes(tag)).map(([, id]) => id),
        commentCount: comments.length,
        attachmentCount: demoNumber === 'INC-17' ? 1 : 0,
        linkCount: links.filter(([, ...ends]) => ends.includes(demoNumber)).length,
        dueAt: hoursLater(resolutionTargets[priority] / 60),
        firstRespondedAt: response ? hoursLater(response[0]) : null,
        createdAt,
        updatedAt: closedAt ?? moment(-daysAgo, hours),
      },
    });
    const { id } = ticket;
    ids.set(demoNumber, id);
    history.push(...ticketHistory(ticket, { requester, assignee, comments }));
    await tx.ticketWatcher.createMany({
      data: watchers.map((watcher) => ({ tenantId, ticketId: id, userId: users[watcher].id })),
    });
    await tx.comment.createMany({
      data: comments.map(([hours, author, visibility, body, externalId = null]) => {
        const createdAt = hoursLater(hours);
        const redactedAt = body === redactedText ? hoursLater(hours + 0.5) : null;
        const comment = { visibility, body, externalId, createdAt, redactedAt };
        return { tenantId, ticketId: id, authorId: users[author].id, ...comment };
      }),
    });
  }
  for (const [type, from, to] of links) {
    const [ticketId, targetId] = [ids.get(from) as bigint, ids.get(to) as bigint];
    await tx.ticketLink.create({ data: { tenantId, type, ticketId, targetId } });
  }
  await addActivities(tx, users, history);
  const { INCIDENT: incident, PROBLEM: problem, CHANGE: change, SERVICE_REQUEST: serviceRequest } = lastNumbers;
  const sequence = { total: ordinal, incident, problem, change, serviceRequest, resolutionTargets };
  await tx.ticketSequence.upsert({ where: { tenantId }, create: { tenantId, ...sequence }, update: sequence });
  return ids;
}

interface DemoActivity {
  resource: Recorded;
  resourceId: bigint;
  action: ActivityAction;
  at: Date;
  actor: Person;
  changes: Changes;
}

/** Returns the activity of a demo ticket: its creation, its comments, and the changes of its status. */
function ticketHistory(
  { id, createdAt, status, resolution, resolvedAt, closedAt, updatedAt, firstRespondedAt }: Ticket,
  { requester, assignee, comments }: { requester: Person; assignee: Person | null; comments: CommentFacts[] },
): DemoActivity[] {
  const activity = (action: ActivityAction, at: Date, actor: Person | null, changes: Changes = {}): DemoActivity => {
    return { resource: 'TICKET', resourceId: id, action, at, actor: actor ?? requester, changes };
  };
  const history = comments.map(([hours, author], index) => {
    const at = hoursAfter(createdAt, hours);
    const changes: Changes = { commentCount: { from: index, to: index + 1 } };
    if (at.getTime() === firstRespondedAt?.getTime()) changes.firstRespondedAt = { from: null, to: at.toISOString() };
    return activity('COMMENTED', at, author, changes);
  });
  history.push(activity('CREATED', createdAt, requester));
  if (status !== 'OPEN') {
    const changes: Changes = { status: { from: 'OPEN', to: resolvedAt === null ? status : 'RESOLVED' } };
    if (resolvedAt) changes.resolvedAt = { from: null, to: resolvedAt.toISOString() };
    if (resolution) changes.resolution = { from: null, to: resolution };
    history.push(activity('UPDATED', resolvedAt ?? updatedAt, assignee, changes));
  }
  if (closedAt) {
    const changes = {
      status: { from: 'RESOLVED', to: 'CLOSED' },
      closedAt: { from: null, to: closedAt.toISOString() },
    };
    history.push(activity('UPDATED', closedAt, assignee, changes));
  }
  return history;
}

/** Adds activities in the order of their times, because a feed of activities has the order of their ids. */
async function addActivities(tx: Transaction, users: Users, history: DemoActivity[]): Promise<void> {
  await tx.activity.createMany({
    data: history
      .toSorted((one, other) => one.at.getTime() - other.at.getTime())
      .map(({ actor, ...columns }) => {
        const { tenantId, id: actorUserId } = users[actor];
        return { ...columns, tenantId, actorUserId };
      }),
  });
}

/** Attaches the demo file to a ticket. */
async function addAttachment(
  tx: Transaction,
  storage: AttachmentStorage,
  { ticketId, uploader }: { ticketId: bigint; uploader: Users[Person] },
): Promise<void> {
  const { tenantId, id: uploaderId } = uploader;
  const content = Buffer.from(vpnLog);
  const storageKey = `${tenantId}/${randomUUID()}`;
  await storage.move(await storage.writeTemporary(Readable.from([content]), content.length), storageKey);
  const file = { name: 'vpn-client.log', contentType: 'text/plain', size: content.length };
  const sha256 = createHash('sha256').update(content).digest('hex');
  await tx.attachment.create({ data: { ...file, tenantId, ticketId, uploaderId, sha256, storageKey } });
  await tx.attachmentUsage.create({ data: { tenantId, bytes: content.length } });
}

/** The content of the demo file. */
const vpnLog = `08:14:02 connected to vpn-1
08:24:02 no reply to 3 keepalives, reconnecting
08:24:09 connected to vpn-1
08:34:09 no reply to 3 keepalives, reconnecting
`;

async function addAssets(tx: Transaction, users: Users): Promise<Map<string, bigint>> {
  const { tenantId } = users.ada;
  const rows = await tx.asset.createManyAndReturn({
    select: { assetTag: true, id: true, createdAt: true },
    data: assets.map(([facts, name, extras]) => {
      const [assetTag, type, status, manufacturer, model, boughtDaysAgo, purchaseCost, holder] = facts;
      return {
        ...extras,
        ...{ tenantId, assetTag, name, type, status, manufacturer, model, purchaseCost },
        assignedToId: holder && users[holder].id,
        purchaseDate: day(-boughtDaysAgo),
        warrantyExpiresAt: day(warrantyDays - boughtDaysAgo),
        ...unchangedSince(Math.min(boughtDaysAgo, daysSinceStart)),
      };
    }),
  });
  const created = ({ id: resourceId, createdAt: at }: (typeof rows)[number]): DemoActivity => {
    return { resource: 'ASSET', resourceId, action: 'CREATED', at, actor: 'ada', changes: {} };
  };
  await addActivities(tx, users, rows.map(created));
  return new Map(rows.map(({ assetTag, id }) => [assetTag, id]));
}

async function addProjects(tx: Transaction, users: Users): Promise<void> {
  const { tenantId } = users.ada;
  for (const { tasks, manager, startedDaysAgo, endsInDays, ...columns } of projects) {
    const planned = unchangedSince(Math.max(startedDaysAgo, 0) + 10);
    const dates = { startDate: day(-startedDaysAgo), endDate: day(endsInDays) };
    const project = await tx.project.create({
      data: { ...columns, ...dates, ...planned, tenantId, managerId: users[manager].id },
    });
    await tx.task.createMany({
      data: tasks.map(([status, priority, dueInDays, assignee, title, description = null]) => {
        const completedAt = status === 'DONE' ? moment(dueInDays, -20) : null;
        return {
          ...{ tenantId, projectId: project.id, title, description, status, priority, completedAt },
          assigneeId: assignee && users[assignee].id,
          dueDate: day(dueInDays),
          createdAt: planned.createdAt,
          updatedAt: completedAt ?? planned.updatedAt,
        };
      }),
    });
  }
}

async function addArticles(tx: Transaction, users: Users): Promise<void> {
  const { tenantId } = users.ada;
  for (const [daysAgo, category, title, body] of articles) {
    await tx.article.create({
      data: { tenantId, title, category, body, status: 'PUBLISHED', ...unchangedSince(daysAgo) },
    });
  }
}

function hoursAfter(at: Date, hours: number): Date {
  return new Date(at.getTime() + hours * 3_600_000);
}

function moment(inDays: number, hoursLater = 0): Date {
  return new Date(Date.now() + inDays * 86_400_000 + hoursLater * 3_600_000);
}

/** Returns midnight (UTC) of the day that is `inDays` days from today, or in the past if `inDays` is negative. */
function day(inDays: number): Date {
  return new Date(moment(inDays).toISOString().slice(0, 10));
}

function unchangedSince(daysAgo: number) {
  return { createdAt: moment(-daysAgo), updatedAt: moment(-daysAgo) };
}

const tenantName = 'Acme Corporation';
/** The age of the demo workspace in days. Only the tickets that `addOlder` adds are older. */
const daysSinceStart = 120;
/** The number of hours between the resolution of a ticket and its closing. */
const hoursUntilClosed = 72;
const warrantyDays = 3 * 365;
/** The resolution targets of the demo workspace, in minutes. */
const resolutionTargets: Record<Priority, number> = { CRITICAL: 240, HIGH: 480, MEDIUM: 1440, LOW: 4320 };
