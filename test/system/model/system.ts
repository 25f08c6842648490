import { setTimeout as sleep } from 'node:timers/promises';
import { type Article, type NewUser, type Scope, scopes, type Targets, type User } from '@itsm-api/contract';
import { createKey, revokeKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import { createArticle, getArticle, updateArticle } from '@itsm-api/server/resources/articles/queries.ts';
import { setBusinessHours } from '@itsm-api/server/resources/business-hours/queries.ts';
import { backfillFilters } from '@itsm-api/server/resources/custom-fields/filter-backfill.ts';
import {
  createCustomFieldDefinition,
  listCustomFieldDefinitions,
  updateCustomFieldDefinition,
} from '@itsm-api/server/resources/custom-fields/queries.ts';
import { createProject, listProjects } from '@itsm-api/server/resources/projects/queries.ts';
import { pruneProposals } from '@itsm-api/server/resources/proposals/proposal-retention.ts';
import { createForm, listRequestForms, updateForm } from '@itsm-api/server/resources/request-forms/queries.ts';
import { teams } from '@itsm-api/server/resources/teams/queries.ts';
import {
  createTicketCategory,
  listTicketCategories,
  updateTicketCategory,
} from '@itsm-api/server/resources/ticket-categories/queries.ts';
import { withdrawApproval } from '@itsm-api/server/resources/tickets/approvals/queries.ts';
import { setChangePolicy } from '@itsm-api/server/resources/tickets/change-policy.ts';
import { listUsers } from '@itsm-api/server/resources/users/queries.ts';
import { createUser, deactivateUser, updateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { ApiError } from '@itsm-api/server/shared/errors.ts';
import { openInstallation } from '../../support/installation.ts';
import { type Postgres, steadyPort } from '../../support/postgres-server.ts';
import { startProxy } from '../../support/proxy.ts';
import { rawClient } from '../../support/raw-client.ts';
import { type Supervised, supervise } from '../../support/server-process.ts';
import { addWorkspace, type Workspace as Made } from '../../support/subscribed-workspaces.ts';
import { Gate } from './gate.ts';
import { openReceiver, type Receiver } from './receiver.ts';
import { calendars, type HoursSetting, targets, toBusinessCalendar } from './resources/business-hours.ts';
import { newForms, retiredForm } from './resources/request-forms.ts';
import type { Servers } from './turn.ts';
import { followed, followedLogs, type Key, type Outage, Table, type Walker, type Workspace } from './world.ts';

/**
 * The faults to inject, named after the component that fails. `backend` kills one PostgreSQL backend, which makes
 * PostgreSQL restart all backends. `notifications` drops PostgreSQL notifications.
 */
export const victims = ['worker', 'api', 'postgres', 'backend', 'limitedApi', 'notifications'] as const;
export type Victim = (typeof victims)[number];

/**
 * The processes under test: one worker and two API processes. The second API process has the rate limits from the
 * specification.
 */
export interface System {
  servers: Servers;
  receiver: Receiver;
  /** The periods in which requests may fail because of a fault. */
  outages: Outage[];
  /** Returns the last output of each process that exited unexpectedly. */
  crashes(): string[];
  addWorkspace(name: string): Promise<Workspace>;
  /**
   * Injects a fault. Resolves when the fault has ended.
   * @param round a promise. The fault `notifications` lasts at least until this promise resolves.
   */
  fail(victim: Victim, round: Promise<unknown>): Promise<void>;
  /**
   * Resolves when the database no longer runs statements of requests. An interrupted request that hasn't taken effect
   * by then never will.
   */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The minimum time in milliseconds for which requests may still fail after a killed process is ready again. On a slow
 * machine, it is as long as the process needed to be ready.
 */
const minAftermathMs = 5000;
/**
 * The minimum duration of the fault `notifications`, in milliseconds. It is longer than the time for which a revoked
 * key may still work.
 */
const silenceMs = 4000;

/** Settings for longer waits, so the server doesn't reject requests on a busy machine. */
const maxWaitMs = {
  TENANT_CONCURRENCY_QUEUE: '10000',
  TENANT_CONCURRENCY_WAIT_MS: '60000',
  LOCK_TIMEOUT_MS: '60000',
  STATEMENT_TIMEOUT_MS: '60000',
};

export async function openSystem(): Promise<System> {
  const stops: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  try {
    const { postgres, runtime, apiUrl, env } = await openInstallation(stops);
    const receiver = await openReceiver();
    stops.push(receiver.close);
    let isSilent = false;
    const proxy = await startProxy(env.DATABASE_URL ?? '', { swallowsNotifications: () => isSilent });
    stops.push(proxy.close);
    const quiet = { ...env, ...maxWaitMs, LOG_LEVEL: 'fatal' };
    const limits = { RATE_LIMIT_GLOBAL: '60', RATE_LIMIT_GROUP: '30' };
    const port = String(await steadyPort());
    // The first API process gets most of the requests. Its rate limits are so high that the run never reaches them.
    const api = supervise({ ...quiet, ROLES: 'api' });
    const limitedApi = supervise({ ...quiet, ...limits, ROLES: 'api', PORT: port, DATABASE_URL: proxy.url });
    const worker = supervise({ ...quiet, ROLES: 'worker', DATABASE_URL: proxy.url });
    stops.push(() => Promise.all([api.stop(), limitedApi.stop(), worker.stop()]));
    const processes = { api, limitedApi, worker };
    await Promise.all(Object.values(processes).map((each) => each.ready()));

    const outages: Outage[] = [];
    const contexts = new WeakMap<Workspace, Made>();
    return {
      servers: {
        apiUrls: [apiUrl, `http://127.0.0.1:${port}`],
        receiverUrl: receiver.url,
        newKey: (workspace) => addKey(contexts.get(workspace), 'short-lived').catch(() => undefined),
        revokeKey: (workspace, { id }) => revoke(contexts.get(workspace), id),
        setFilter: (workspace, field, isOn) => setFilter(runtime, contexts.get(workspace), field, isOn),
        setHours: (workspace, setting) => setHours(runtime, contexts.get(workspace), setting),
        withdrawApproval: (workspace, id) => withdraw(contexts.get(workspace), id),
        expireProposal: (workspace, id) => expireProposal(runtime, contexts.get(workspace), id),
        removeApprover: (workspace, userId, how) => removeApprover(contexts.get(workspace), userId, how),
      },
      receiver,
      outages,
      crashes: () => Object.values(processes).flatMap(({ crashes }) => crashes),
      async addWorkspace(name) {
        const made = await addWorkspace(runtime, name);
        const workspace = await fill(made, name);
        contexts.set(workspace, made);
        return workspace;
      },
      async fail(victim, round) {
        const outage = { from: Date.now(), to: Number.POSITIVE_INFINITY };
        if (victim === 'notifications') {
          isSilent = true;
          await Promise.all([sleep(silenceMs), round]);
          isSilent = false;
          return;
        }
        outages.push(outage);
        if (victim === 'postgres') await killPostgres(postgres, processes);
        else if (victim === 'backend') await killBackend(postgres, runtime);
        else await killProcess(processes[victim]);
        const readyMs = Date.now() - outage.from;
        outage.to = Date.now() + Math.max(minAftermathMs, readyMs);
      },
      settled: () => settled(runtime),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function killProcess(process: Supervised): Promise<void> {
  process.kill();
  await process.ready();
}

async function killPostgres(postgres: Postgres, processes: Record<string, Supervised>): Promise<void> {
  postgres.kill();
  await postgres.start();
  await Promise.all(Object.values(processes).map((each) => each.ready()));
}

async function killBackend(postgres: Postgres, { prisma }: Runtime): Promise<void> {
  while (!(await postgres.killOne())) await sleep(20);
  const isBack = () =>
    rawClient(prisma).$queryRaw`SELECT`.then(
      () => true,
      () => false,
    );
  // PostgreSQL may need time to detect the killed backend.
  do await sleep(200);
  while (!(await isBack()));
}

/** @param before counts only statements that began before this time */
async function settled({ prisma }: Runtime, before = new Date('2999-01-01')): Promise<void> {
  for (;;) {
    const rows = await rawClient(prisma).$queryRaw<{ count: number }[]>`
      SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE application_name = 'itsm-api requests' AND datname = current_database() AND state <> 'idle'
        AND query_start < ${before}`.catch(() => []);
    if (rows[0]?.count === 0) return;
    await sleep(20);
  }
}

const allScopes = Object.keys(scopes) as Scope[];
/** The scopes of a key that reads all resources except users, so that it can't send their addresses. */
const readScopes = allScopes.filter((scope) => scope.endsWith(':read') && scope !== 'users:read');

async function addKey(
  made: Made | undefined,
  name: string,
  given: Partial<{ scopes: Scope[]; user: string; isImport: boolean }> = {},
): Promise<Key> {
  if (made === undefined) throw new Error('The workspace belongs to another system.');
  const { user = 'admin@example.com', scopes = allScopes, isImport = false } = given;
  const input = { user, name, scopes, isImport, ...(isImport && { expiresInDays: 1 }) };
  const { id, key, userId } = await createKey(made.context, input);
  return { id, key, userId, scopes, isImport, line: [id] };
}

function revoke(made: Made | undefined, id: number): Promise<boolean> {
  if (made === undefined) return Promise.resolve(false);
  return revokeKey(made.context, id).then(
    () => true,
    () => false,
  );
}

/**
 * Turns the filter of lists by a custom field on or off, and waits until it is complete or deleted. Returns false if
 * the database was unavailable.
 */
async function setFilter(
  { prisma }: Runtime,
  made: Made | undefined,
  field: Parameters<typeof updateCustomFieldDefinition>[1],
  filterable: boolean,
): Promise<boolean> {
  try {
    if (made === undefined) return false;
    // An earlier change may be incomplete.
    await backfillFilters(prisma, 20);
    await updateCustomFieldDefinition(made.context, field, { filterable });
    await backfillFilters(prisma, 20);
    return true;
  } catch {
    return false;
  }
}

/** Sets the business hours, and repeats this if the database is unavailable. */
async function setHours(runtime: Runtime, made: Made | undefined, setting: HoursSetting): Promise<void> {
  if (made === undefined) throw new Error('The workspace belongs to another system.');
  const calendar = setting.calendar && toBusinessCalendar(setting.calendar);
  for (let attempt = 0; ; attempt++) {
    try {
      // Requests without a response can still take effect.
      await settled(runtime, new Date());
      await setBusinessHours(made.context, { ...setting, calendar });
      return;
    } catch (error) {
      if (attempt === 600 || error instanceof ApiError) throw error;
      await sleep(100);
    }
  }
}

async function withdraw(made: Made | undefined, id: number): Promise<'done' | 'NOT_FOUND' | undefined> {
  if (made === undefined) throw new Error('The workspace belongs to another system.');
  return withdrawApproval(made.context, id).then(
    () => 'done' as const,
    (error: unknown) => (error instanceof ApiError && error.code === 'NOT_FOUND' ? 'NOT_FOUND' : undefined),
  );
}

/** Makes a pending proposal older. The nightly job stores the status of every other one. */
async function expireProposal({ prisma }: Runtime, made: Made | undefined, id: number): Promise<boolean> {
  try {
    if (made === undefined) return false;
    await made.context.db.proposal.updateMany({
      where: { id, status: 'PENDING' },
      data: { expiresAt: new Date(Date.now() - 60_000) },
    });
    if (id % 2 === 0) await pruneProposals(prisma);
    return true;
  } catch {
    return false;
  }
}

/** Demotes or deactivates a user. A demoted user keeps their keys. Resolves to all users of the workspace. */
async function removeApprover(made: Made | undefined, userId: number, how: 'demote' | 'deactivate'): Promise<User[]> {
  if (made === undefined) throw new Error('The workspace belongs to another system.');
  const { context } = made;
  if (how === 'demote') await updateUser(context, userId, { role: 'REQUESTER' }, { keepKeys: true });
  else await deactivateUser(context, userId);
  return (await listUsers(context, { page: 1, perPage: 100 })).data;
}

/**
 * Creates the users, teams, ticket categories, fields, projects and API keys of a workspace. Doesn't use the API,
 * because the API can't create them.
 */
async function fill(made: Made, name: string): Promise<Workspace> {
  const { context, tenantId, userId, key } = made;
  const roles: NewUser['role'][] = ['AGENT', 'AGENT', 'REQUESTER', 'REQUESTER'];
  for (const [index, role] of roles.entries()) {
    await createUser(context, { name: `User ${index}`, email: `user${index}@example.com`, role });
  }
  const leaver = (name: string) => createUser(context, { name, email: `${name}@example.com`, role: 'AGENT' });
  const [demoted, deactivated] = [await leaver('demoted'), await leaver('deactivated')];
  await context.db.user.updateMany({ where: { email: 'user3@example.com' }, data: { active: false } });
  for (const status of ['ACTIVE', 'PLANNED'] as const) {
    await createProject(context, { key: status, name: `Project ${status} vpn`, status, description: 'New router.' });
  }
  const articles: Article[] = [];
  for (const category of ['Network', 'Email']) {
    const { id } = await createArticle(context, {
      title: `${category} vpn`,
      category,
      body: 'New router, old printer.',
    });
    await updateArticle(context, id, { status: 'PUBLISHED' });
    articles.push(await getArticle(context, id));
  }
  const users = (await listUsers(context, { page: 1, perPage: 100 })).data;
  for (const [index, name] of ['Network', 'Email', 'Dissolved'].entries()) {
    const memberIds = users.flatMap(({ id, active }) => (active ? [id] : [])).slice(index);
    await teams.create(context, { name, memberIds });
  }
  const { data: created } = await teams.list(context, { page: 1, perPage: 100 });
  for (const resource of ['ASSET', 'TICKET'] as const) {
    for (const key of ['contract', 'owner'])
      await createCustomFieldDefinition(context, { resource, key, type: 'TEXT', label: key });
    // Inactive definitions accept any value, and can have filters.
    const options = ['vpn', 'printer', 'mail'].map((value) => ({ value, label: value }));
    await createCustomFieldDefinition(context, { resource, key: 'site', type: 'SELECT', label: 'Site', options });
    await createCustomFieldDefinition(context, { resource, key: 'vip', type: 'BOOLEAN', label: 'VIP' });
    for (const key of ['site', 'vip']) await updateCustomFieldDefinition(context, { resource, key }, { active: false });
  }
  // The second workspace has no ticket categories, so that its tickets can have any text instead.
  const hasCategories = !name.endsWith('second');
  if (hasCategories) {
    await createTicketCategory(context, { id: 'cat-1', name: 'Network' });
    await createTicketCategory(context, { id: 'cat-2', name: 'VPN', parentId: 'cat-1', category: 'NETWORK' });
    await createTicketCategory(context, { id: 'cat-3', name: 'Dial-up', parentId: 'cat-1', category: 'OTHER' });
  }
  for (const form of newForms(created, hasCategories)) await createForm(context, form);
  await updateForm(context, retiredForm, { active: false });
  await teams.update(context, created.find(({ name }) => name === 'Dissolved')?.id ?? 0, { active: false });
  if (hasCategories) await updateTicketCategory(context, 'cat-3', { active: false });
  // Two of the three workspaces have the policy.
  const hasChangePolicy = !name.endsWith('second');
  await setChangePolicy(context, hasChangePolicy);
  const hours = name.endsWith('first')
    ? { calendar: null, targets: targets[0] as Targets, pausesWhilePending: false }
    : { calendar: calendars[1] ?? null, targets: targets[2] as Targets, pausesWhilePending: true };
  await setBusinessHours(context, { ...hours, calendar: hours.calendar && toBusinessCalendar(hours.calendar) });
  const id = Number(context.keyId);
  const first: Key = { id, key, userId, scopes: allScopes, isImport: false, line: [id] };
  const rotated = await addKey(made, 'rotated');
  await context.db.apiKey.updateMany({ where: { id: rotated.id }, data: { rotatedFrom: context.keyId } });
  const others: Key[] = [];
  for (const user of ['user0@example.com', 'user2@example.com', demoted.email, deactivated.email]) {
    others.push(await addKey(made, 'other', { user }));
  }
  const walkers = () => [0, 1].map((): Walker => ({ cursor: undefined, copy: new Map(), isBusy: false }));
  return {
    name,
    tenantId,
    members: [first, { ...rotated, line: [rotated.id, id] }, ...others],
    leaving: { demote: demoted.id, deactivate: deactivated.id },
    reader: await addKey(made, 'reader', { scopes: readScopes }),
    importer: await addKey(made, 'importer', { isImport: true }),
    users,
    teams: (await teams.list(context, { page: 1, perPage: 100 })).data,
    fields: (await listCustomFieldDefinitions(context, { page: 1, perPage: 100 })).data,
    filters: Object.fromEntries(
      ['TICKET.site', 'TICKET.vip', 'ASSET.site', 'ASSET.vip'].map((name) => [
        name,
        { state: 'off' as const, isChanging: false, changes: 0 },
      ]),
    ),
    categories: (await listTicketCategories(context, { page: 1, perPage: 100 })).data,
    projects: (await listProjects(context, { page: 1, perPage: 100 })).data,
    articles,
    requestForms: (await listRequestForms(context, { page: 1, perPage: 100 })).data,
    tickets: new Table(),
    assets: new Table(),
    tasks: new Table(),
    webhooks: new Table(),
    walkers: Object.fromEntries(
      [...Object.keys(followed), ...Object.keys(followedLogs)].map((each) => [each, walkers()]),
    ) as Workspace['walkers'],
    parents: new Map(),
    links: [],
    hasChangePolicy,
    hours,
    gate: new Gate(),
    changes: [],
    proposals: [],
    approvals: [],
    taken: [],
    attachments: [],
    options: [],
    bodies: new Map(),
  };
}
