import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { type ActivityAction, type Changes, Scope, Weekday } from '../contract/src/index.ts';
import type { Prisma, Ticket } from '../server/generated/prisma/client.ts';
import { invitationDays } from '../server/src/auth/accounts/invitations.ts';
import { newToken } from '../server/src/auth/accounts/token.ts';
import { storedOf } from '../server/src/auth/api-keys/api-keys.ts';
import { newKey } from '../server/src/auth/api-keys/key-format.ts';
import type { SystemClient } from '../server/src/database/client/prisma.ts';
import { sql, tenant } from '../server/src/database/client/sql.ts';
import { command } from '../server/src/database/client/statements.ts';
import { createUnique } from '../server/src/database/client/unique-violation.ts';
import type { ActivityResource } from '../server/src/resources/activities/record.ts';
import { type BusinessHoursPatch, writeBusinessHours } from '../server/src/resources/business-hours/queries.ts';
import { redactedText } from '../server/src/resources/privacy/redacted-copy.ts';
import { toNameKey } from '../server/src/resources/shared/name-key.ts';
import { formatTicketNumber } from '../server/src/resources/shared/ticket-number.ts';
import { presentTicket } from '../server/src/resources/tickets/presenter.ts';
import { selectTicketsByIds } from '../server/src/resources/tickets/sql.ts';
import { ApiError } from '../server/src/shared/errors.ts';
import { toTenantId } from '../server/src/shared/tenant-id.ts';
import type { AttachmentStorage } from '../server/src/storage/attachment-storage.ts';
import { newEventId } from '../server/src/webhooks/outbox/emit.ts';
import { newSecret } from '../server/src/webhooks/secrets/new-secret.ts';
import type { SecretCipher } from '../server/src/webhooks/secrets/secret-cipher.ts';
import {
  approvals,
  articles,
  assets,
  type CommentFacts,
  type DeliveryFacts,
  deliveries,
  fields,
  forms,
  links,
  type Person,
  people,
  plainRows,
  projects,
  teams,
  tickets,
  webhook,
} from './demo-data.ts';

/** The credentials for a new demo workspace. The API key can't be read again later. */
export interface DemoWorkspace {
  key: string;
  /** The name of the tenant. */
  tenant: string;
  adminEmail: string;
  /** The token of the administrator's sign-in link. The link works once, and only on this machine. */
  invitation: string;
}

/** The services that store the files and encrypt the signing secret of a demo workspace. */
interface Services {
  storage: AttachmentStorage;
  secretCipher: SecretCipher;
}

/** Where a demo workspace is created. */
interface Target {
  prisma: SystemClient;
  services: Services;
}

/**
 * Creates a demo workspace in an empty database. If the database contains a tenant, does nothing and returns undefined.
 */
export function seed(target: Target): Promise<DemoWorkspace | undefined> {
  return target.prisma.$transaction(async () => {
    const found = await target.prisma.tenant.findFirst({ select: { id: true } });
    return found === null ? addWorkspace(target, demoName) : undefined;
  });
}

/**
 * Creates a demo workspace in a database that may contain other workspaces.
 * @param addOlder adds tickets that were created before `to`. It runs before the demo tickets are added.
 * @throws ApiError VALIDATION_ERROR if another workspace has the same name
 */
export async function seedAnother(
  target: Target,
  name: string,
  addOlder?: (tenantId: bigint, to: Date) => Promise<void>,
): Promise<DemoWorkspace> {
  const { prisma, services } = target;
  if (addOlder === undefined) return prisma.$transaction(() => addWorkspace(target, name));
  const users = await prisma.$transaction(() => addTenant(prisma, name));
  await addOlder(users.ada.tenantId, moment(-daysSinceStart));
  return prisma.$transaction(() => fill(prisma, name, { users, services }));
}

async function addWorkspace({ prisma, services }: Target, name: string): Promise<DemoWorkspace> {
  return fill(prisma, name, { users: await addTenant(prisma, name), services });
}

async function addTenant(prisma: SystemClient, name: string): Promise<Users> {
  const data = { name, nameKey: toNameKey(name), ...unchangedSince(daysSinceStart) };
  const { id } = await createUnique(
    'name',
    `${name} is already used by another tenant or by an interrupted seed. Choose another name.`,
    () => prisma.tenant.create({ data }),
  );
  return addUsers(prisma, id);
}

async function fill(
  prisma: SystemClient,
  tenant: string,
  { users, services: { storage, secretCipher } }: { users: Users; services: Services },
): Promise<DemoWorkspace> {
  await addPlainRows(prisma, users.ada.tenantId);
  const [teamIds, assetIds] = [await addTeams(prisma, users), await addAssets(prisma, users)];
  await addFields(prisma, users.ada.tenantId);
  await addForms(prisma, users.ada.tenantId, teamIds);
  const file = await storeFile(storage, users.priya);
  const tickets = await addTickets(prisma, users, { teamIds, assetIds, file });
  await addProjects(prisma, users);
  await addArticles(prisma, users);
  await addWebhook(prisma, users.ada.tenantId, { secretCipher, tickets });

  const { tenantId, id: userId, email } = users.ada;
  const key = newKey();
  await prisma.apiKey.create({
    data: { tenantId, userId, name: 'demo', scopes: Scope.options, ...storedOf(key) },
  });
  // The value of this key is discarded. The key shows a service account with a key that expires soon.
  await prisma.apiKey.create({
    data: {
      ...{ tenantId, userId: users.exporter.id, name: 'nightly export', ...storedOf(newKey()) },
      ...{ scopes: ['tickets:read', 'users:read'], allowedNetworks: ['192.0.2.0/24'], expiresAt: moment(20) },
    },
  });
  await addProposal(prisma, users, tickets.get('INC-17') as bigint);
  await prisma.auditEntry.createMany({
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
  await prisma.invitation.createMany({
    data: [
      { tenantId, userId, hash: invitation.hash, demo: true, expiresAt },
      // The token of this link is discarded. The list of users shows a user who was invited and hasn't joined.
      { tenantId, userId: users.jonas.id, hash: discarded.hash, expiresAt },
    ],
  });
  return { key, tenant, adminEmail: email, invitation: invitation.text };
}

type Users = Record<Person, { tenantId: bigint; id: bigint; email: string }>;

async function addUsers(prisma: SystemClient, tenantId: bigint): Promise<Users> {
  const add = (person: Person) =>
    prisma.user.create({ data: { tenantId, ...people[person], ...unchangedSince(daysSinceStart) } });
  return {
    ...{ ada: await add('ada'), jonas: await add('jonas'), priya: await add('priya') },
    exporter: await add('exporter'),
  };
}

async function addPlainRows(prisma: SystemClient, tenantId: bigint): Promise<void> {
  for (const [model, rows] of Object.entries(plainRows) as [keyof typeof plainRows, object[]][]) {
    // Each model has other types, which TypeScript can't compare.
    const table = prisma[model] as unknown as { createMany(args: { data: object[] }): Promise<unknown> };
    await table.createMany({ data: rows.map((row) => ({ tenantId, ...row, ...unchangedSince(daysSinceStart) })) });
  }
}

/** Returns the ids of the demo teams. */
async function addTeams(prisma: SystemClient, users: Users): Promise<Map<string, bigint>> {
  const { tenantId } = users.ada;
  const ids = new Map<string, bigint>();
  for (const [team, { name, members, ...columns }] of Object.entries(teams)) {
    const { id: teamId } = await prisma.team.create({
      data: { tenantId, name, nameKey: toNameKey(name), ...columns, ...unchangedSince(daysSinceStart) },
    });
    await prisma.teamMember.createMany({
      data: members.map((member) => ({ tenantId, teamId, userId: users[member].id })),
    });
    ids.set(team, teamId);
  }
  return ids;
}

async function addFields(prisma: SystemClient, tenantId: bigint): Promise<void> {
  for (const { options, ...field } of fields) {
    // No older ticket or asset has one of these fields, so the filters need no job.
    const filter = { backfilled: true, backfilledTo: 0n };
    const data = {
      tenantId,
      ...field,
      ...(field.filterable && filter),
      ...(options && { options }),
      ...unchangedSince(daysSinceStart),
    };
    await prisma.customFieldDefinition.create({ data });
  }
}

async function addForms(prisma: SystemClient, tenantId: bigint, teamIds: Map<string, bigint>): Promise<void> {
  for (const { team, fields, ...form } of forms) {
    const data = {
      ...{ tenantId, ...form, plainKey: form.key.replaceAll('-', ''), teamId: teamIds.get(team) as bigint },
      fields: fields.map((field) => ({ required: false, default: null, fixed: null, help: null, ...field })),
      ...unchangedSince(daysSinceStart),
    };
    await prisma.requestForm.create({ data });
  }
}

/** Adds an API key that can only propose, whose value is discarded, and its proposal, which waits for a decision. */
async function addProposal(prisma: SystemClient, users: Users, ticketId: bigint): Promise<void> {
  const { tenantId, id: userId } = users.jonas;
  const scopes = ['tickets:read', 'tickets:write'];
  const { id: keyId } = await prisma.apiKey.create({
    data: { tenantId, userId, name: 'triage agent', scopes, isProposing: true, ...storedOf(newKey()) },
  });
  const { priority, status } = await prisma.ticket.findFirstOrThrow({ where: { tenantId, id: ticketId } });
  const target = `TICKET:${Number(ticketId)}` as const;
  await prisma.proposal.create({
    data: {
      ...{ tenantId, operation: 'tickets_update', params: { id: Number(ticketId) }, body: { priority: 'CRITICAL' } },
      ...{ reason: 'Three other tickets report the same outage.', target, proposedById: userId, keyId },
      preview: [{ target, status, changes: { priority: { from: priority, to: 'CRITICAL' } } }],
      expiresAt: moment(6),
      ...unchangedSince(1),
    },
  });
}

/**
 * Returns the ids of the demo tickets by number.
 * @param given the ids of the demo teams, the ids of the demo assets by tag, in ascending order, and the file to attach
 */
async function addTickets(
  prisma: SystemClient,
  users: Users,
  {
    teamIds,
    assetIds,
    file,
  }: Record<'teamIds' | 'assetIds', ReadonlyMap<string, bigint>> & { file: DemoFile | undefined },
): Promise<Map<string, bigint>> {
  const { tenantId } = users.ada;
  const before = await prisma.ticketSequence.findUnique({ where: { tenantId } });
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
    const { parent, team, watchers = [], concerned = [], planned, comments = [], ...columns } = extras;
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
    const ticket = await prisma.ticket.create({
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
        teamId: team === undefined ? null : (teamIds.get(team) ?? null),
        parentId: parent === undefined ? null : (ids.get(parent) ?? null),
        watcherUserIds: watchers.map((watcher) => users[watcher].id).sort((a, b) => Number(a - b)),
        assetIds: [...assetIds].filter(([tag]) => concerned.includes(tag)).map(([, id]) => id),
        commentCount: comments.length,
        attachmentCount: demoNumber === 'INC-17' && file ? 1 : 0,
        linkCount: links.filter(([, ...ends]) => ends.includes(demoNumber)).length,
        approvalStatus: approvals.some(([number]) => number === demoNumber) ? 'PENDING' : 'NONE',
        plannedStartAt: planned ? hoursLater(planned[0]) : null,
        plannedEndAt: planned ? hoursLater(planned[1]) : null,
        firstRespondedAt: response ? hoursLater(response[0]) : null,
        createdAt,
        updatedAt: closedAt ?? moment(-daysAgo, hours),
      },
    });
    const { id } = ticket;
    ids.set(demoNumber, id);
    history.push(...ticketHistory(ticket, { requester, assignee, comments }));
    await prisma.comment.createMany({
      data: comments.map(([hours, author, visibility, body, externalId = null]) => {
        const createdAt = hoursLater(hours);
        const redactedAt = body === redactedText ? hoursLater(hours + 0.5) : null;
        const comment = { visibility, body, externalId, createdAt, redactedAt };
        return { tenantId, ticketId: id, authorId: users[author].id, ...comment };
      }),
    });
  }
  for (const [number, by, approver, note] of approvals) {
    const [ticketId, approverId, createdById] = [ids.get(number) as bigint, users[approver].id, users[by].id];
    await prisma.approval.create({ data: { tenantId, ticketId, approverId, createdById, note } });
  }
  if (file !== undefined) {
    await prisma.attachment.create({ data: { ...file, ticketId: ids.get('INC-17') as bigint } });
    await prisma.attachmentUsage.create({ data: { tenantId, bytes: file.size } });
  }
  for (const [type, from, to] of links) {
    const [ticketId, targetId] = [ids.get(from) as bigint, ids.get(to) as bigint];
    await prisma.ticketLink.create({ data: { tenantId, type, ticketId, targetId } });
  }
  await addActivities(prisma, users, history);
  const { INCIDENT: incident, PROBLEM: problem, CHANGE: change, SERVICE_REQUEST: serviceRequest } = lastNumbers;
  const sequence = { total: ordinal, incident, problem, change, serviceRequest };
  await prisma.ticketSequence.upsert({ where: { tenantId }, create: { tenantId, ...sequence }, update: sequence });
  const db = prisma.$tenant(toTenantId(tenantId));
  await writeBusinessHours({ db, now: () => new Date() }, businessHours);
  await db.$sql(assignDates, { ids: [...ids.values()] });
  return ids;
}

/** Assigns the dates that follow from the targets to tickets, and begins the pauses of pending tickets. */
const assignDates = command<{ ids: bigint[] }>(
  ({ ids }) => sql`UPDATE tickets SET
      due_at = (due_dates(${tenant}, created_at, s.resolution_targets, ARRAY[priority], 0))[1],
      first_response_due_at = (due_dates(${tenant}, created_at, s.first_response_targets, ARRAY[priority], 0))[1],
      paused_since = CASE WHEN status = 'PENDING' THEN updated_at END
    FROM ticket_sequences s WHERE s.tenant_id = ${tenant} AND tickets.tenant_id = ${tenant} AND id = ANY (${ids}::bigint[])`,
);

interface DemoActivity {
  resource: ActivityResource;
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
async function addActivities(prisma: SystemClient, users: Users, history: DemoActivity[]): Promise<void> {
  await prisma.activity.createMany({
    data: history
      .toSorted((one, other) => one.at.getTime() - other.at.getTime())
      .map(({ actor, ...columns }) => {
        const { tenantId, id: actorUserId } = users[actor];
        return { ...columns, tenantId, actorUserId };
      }),
  });
}

/** A stored file, without its ticket. */
type DemoFile = Omit<Prisma.AttachmentCreateManyInput, 'ticketId'>;

/** Stores the demo file. Returns undefined if the store of attachments is unavailable, which the storage reports. */
async function storeFile(storage: AttachmentStorage, { tenantId, id }: Users[Person]): Promise<DemoFile | undefined> {
  const content = Buffer.from(vpnLog);
  const storageKey = `${tenantId}/${randomUUID()}`;
  try {
    await storage.move(await storage.writeTemporary(Readable.from([content]), content.length), storageKey);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
  const sha256 = createHash('sha256').update(content).digest('hex');
  const file = { name: 'vpn-client.log', contentType: 'text/plain', size: content.length };
  return { ...file, tenantId, uploaderId: id, sha256, storageKey };
}

/** The content of the demo file. */
const vpnLog = `08:14:02 connected to vpn-1
08:24:02 no reply to 3 keepalives, reconnecting
08:24:09 connected to vpn-1
08:34:09 no reply to 3 keepalives, reconnecting
`;

async function addAssets(prisma: SystemClient, users: Users): Promise<Map<string, bigint>> {
  const { tenantId } = users.ada;
  const rows = await prisma.asset.createManyAndReturn({
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
  await addActivities(prisma, users, rows.map(created));
  return new Map(rows.map(({ assetTag, id }) => [assetTag, id]));
}

async function addProjects(prisma: SystemClient, users: Users): Promise<void> {
  const { tenantId } = users.ada;
  for (const { tasks, manager, startedDaysAgo, endsInDays, ...columns } of projects) {
    const planned = unchangedSince(Math.max(startedDaysAgo, 0) + 10);
    const dates = { startDate: day(-startedDaysAgo), endDate: day(endsInDays) };
    const project = await prisma.project.create({
      data: { ...columns, ...dates, ...planned, tenantId, managerId: users[manager].id },
    });
    await prisma.task.createMany({
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

async function addArticles(prisma: SystemClient, users: Users): Promise<void> {
  const { tenantId } = users.ada;
  for (const [daysAgo, category, title, body] of articles) {
    await prisma.article.create({
      data: { tenantId, title, category, body, status: 'PUBLISHED', ...unchangedSince(daysAgo) },
    });
  }
}

/**
 * Adds the demo webhook and its deliveries.
 * @param tickets the ids of the demo tickets by number
 */
async function addWebhook(
  prisma: SystemClient,
  tenantId: bigint,
  { secretCipher, tickets }: { secretCipher: SecretCipher; tickets: ReadonlyMap<string, bigint> },
): Promise<void> {
  const { url, filter, createdDaysAgo, pausedDaysAgo } = webhook;
  const [createdAt, pausedAt] = [moment(-createdDaysAgo), moment(-pausedDaysAgo)];
  const { id: subscriptionId } = await prisma.webhookSubscription.create({
    // The secret is encrypted for the id, so the update below sets it.
    data: { tenantId, url, filter, events: ['ticket.created'], secret: new Uint8Array(), createdAt, pausedAt },
  });
  const failures: Date[] = [];
  for (const { ticket, attempts } of deliveries) {
    const to = { tenantId, subscriptionId, ticketId: tickets.get(ticket) as bigint };
    failures.push(...(await addDelivery(prisma, to, attempts)));
  }
  await prisma.webhookSubscription.update({
    where: { tenantId_id: { tenantId, id: subscriptionId } },
    data: {
      secret: secretCipher.encrypt(newSecret(), { tenantId: toTenantId(tenantId), subscriptionId }),
      ...{ failures: failures.length, failingSince: failures[0], lastFailureAt: failures.at(-1) },
      // The trigger that pauses a webhook runs only on updates.
      ...{ held: true, updatedAt: pausedAt },
    },
  });
}

/** Adds the event `ticket.created` of a ticket, and a pending delivery. Returns the times of the failed attempts. */
async function addDelivery(
  prisma: SystemClient,
  { tenantId, subscriptionId, ticketId }: { tenantId: bigint; subscriptionId: bigint; ticketId: bigint },
  attempts: DeliveryFacts['attempts'],
): Promise<Date[]> {
  const [row] = await selectTicketsByIds(prisma.$tenant(toTenantId(tenantId)), [Number(ticketId)]);
  if (row === undefined) throw new Error('The ticket of a demo delivery is missing.');
  const ticket = presentTicket({ ...row, status: 'OPEN', version: 1, linkCount: 0, updatedAt: row.createdAt });
  const [type, publicId, createdAt] = ['ticket.created', newEventId('evt_'), new Date(ticket.createdAt)];
  const actor = { userId: ticket.requesterId, keyId: null };
  const body = JSON.stringify({ id: publicId, type, timestamp: ticket.createdAt, actor, ticket });
  const { id: eventId } = await prisma.event.create({ data: { tenantId, publicId, type, body, createdAt } });
  const { id: deliveryId } = await prisma.delivery.create({
    data: { tenantId, subscriptionId, eventId, createdAt, attempts: attempts.length },
  });
  const history = attempts.map(([minutesLater, status, publicAnswer, durationMs], index) => {
    const startedAt = hoursAfter(createdAt, minutesLater / 60);
    return { tenantId, deliveryId, number: index + 1, startedAt, status, publicAnswer, durationMs };
  });
  await prisma.deliveryAttempt.createMany({ data: history });
  return history.map(({ startedAt }) => startedAt);
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

/** The name of the demo workspace. */
export const demoName = 'Acme Corporation';
/** The age of the demo workspace in days. Only the tickets that `addOlder` adds are older. */
const daysSinceStart = 120;
/** The number of hours between the resolution of a ticket and its closing. */
const hoursUntilClosed = 72;
const warrantyDays = 3 * 365;
/** The business hours of the demo workspace, and its targets in minutes. */
const businessHours: BusinessHoursPatch = {
  calendar: {
    timeZone: 'Europe/Berlin',
    intervals: Weekday.options.slice(0, 5).map((weekday) => ({ weekday, opens: '09:00', closes: '17:30' })),
  },
  targets: {
    firstResponse: { CRITICAL: 30, HIGH: 60, MEDIUM: 240, LOW: 510 },
    resolution: { CRITICAL: 240, HIGH: 480, MEDIUM: 1440, LOW: 4320 },
  },
  pausesWhilePending: true,
};
