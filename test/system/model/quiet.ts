import { setTimeout as sleep } from 'node:timers/promises';
import type { Comment, Ticket } from '@itsm-api/contract';
import fc from 'fast-check';
import { followPage } from './commands/changes.ts';
import { expectList } from './commands/lists.ts';
import { ticketQuery, ticketQueryGiven } from './commands/tickets.ts';
import type { ExpectedEvents } from './events.ts';
import { linearize, type Placed, shortestWithoutOrder } from './linearize.ts';
import { approvalsOf, matchesApprovalQuery, type WithApprovals } from './resources/approvals.ts';
import { isAssetIn } from './resources/assets.ts';
import type { ListQuery } from './resources/lists.ts';
import type { State } from './resources/rows.ts';
import { isTaskIn } from './resources/tasks.ts';
import { isTicketIn, prefixes } from './resources/tickets.ts';
import { type Resource, select } from './resources/webhooks.ts';
import { activityOf, listed, readStep } from './steps.ts';
import { type Servers, Turn } from './turn.ts';
import { agrees, unknownText } from './values.ts';
import {
  type Followed,
  followed,
  type followedLogs,
  isFixed,
  type RowHistory,
  requestText,
  type Sent,
  searchOf,
  type Table,
  type Walker,
  type Workspace,
  type World,
} from './world.ts';

/*
 * At a checkpoint, all clients pause. The check reads every row, orders the steps of each row since the previous
 * checkpoint, and compares the model with the server.
 */

/** The number of ticket lists with random filters, per workspace and checkpoint. */
const searches = 20;
/** The maximum time until the change feeds have returned all changes, in milliseconds. */
const maxWaitMs = 30_000;

/**
 * Checks all workspaces at a checkpoint.
 * @param expectedEvents the expected events of each workspace
 */
export async function comparePoint(
  world: World,
  servers: Servers,
  expectedEvents: ExpectedEvents[],
  seed: number,
): Promise<void> {
  await Promise.all(
    world.workspaces.map(async (workspace, index) => {
      const turn = new Turn(world, servers, -1, { workspace: index, who: 0 });
      await compareWorkspace(
        turn,
        workspace,
        expectedEvents[index] as ExpectedEvents,
        seed * world.workspaces.length + index,
      );
    }),
  );
}

async function compareWorkspace(
  turn: Turn,
  workspace: Workspace,
  expectedEvents: ExpectedEvents,
  seed: number,
): Promise<void> {
  const { world } = turn;
  await readTickets(turn, workspace);
  await readRows(turn, workspace.assets, { operation: 'assets.list', marker: ({ assetTag }) => assetTag });
  for (const { id } of workspace.projects) {
    const params = { id };
    await readRows(turn, workspace.tasks, {
      operation: 'tasks.list',
      params,
      marker: ({ title }) => title.split(' ')[0],
    });
  }
  await readWebhooks(turn, workspace);
  adoptAll(world, workspace);
  await readHistories(turn, workspace);

  const now = world.next();
  for (const row of workspace.webhooks.rows.values()) {
    const [before, steps] = [row.state, [...row.steps]];
    const placed = order(world, 'subscription', workspace.webhooks, row);
    expectedEvents.noteSubscription(row.id, { before, steps, placed, now });
  }
  const lineOf = (keyId: number) => workspace.members.find(({ id }) => id === keyId)?.line ?? [keyId];
  for (const resource of ['tickets', 'assets', 'tasks'] as const) {
    const table = workspace[resource] as Table<{ id: number }>;
    const versions = orderAll(world, resource, table, (mutations) =>
      expectedEvents.recordMutations(resource, mutations, { now, lineOf }),
    );
    for (const read of table.lists.splice(0)) compareTotal(world, versions, read);
  }
  workspace.webhooks.lists.length = 0;
  // After a violation, the states of some rows are unknown, so further comparisons would fail.
  if (world.findings.length > 0) return;
  compareTickets(world, workspace);
  await compareLists(turn, workspace, seed);
  await compareCopies(turn, workspace);
  compareExternalIds(world, workspace);
}

/** Reads all pages of a list. */
async function readPages(
  turn: Turn,
  operation: string,
  params: Record<string, number> = {},
): Promise<[Sent, { id: number }[]][]> {
  const pages: [Sent, { id: number }[]][] = [];
  for (let page = 1; ; page++) {
    const sent = await turn.ask(operation, { params, search: searchOf({ page, perPage: 100 }) });
    const { data, meta } = sent?.answer?.body ?? {};
    if (sent === undefined || data === undefined) {
      turn.world.find(`${operation} got no response at a quiet point`);
      return pages;
    }
    pages.push([sent, data]);
    if (page * 100 >= meta.totalCount) return pages;
  }
}

interface Reading<Row> {
  operation: string;
  params?: Record<string, number>;
  /** Returns the marker in a row. The marker identifies the command that created the row. */
  marker(row: Row): string | undefined;
}

async function readRows<Row extends { id: number }>(
  turn: Turn,
  table: Table<Row>,
  { operation, params, marker }: Reading<Row>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [sent, data] of await readPages(turn, operation, params)) {
    for (const row of data as Row[]) {
      rows.push(row);
      adopt(table, row.id, marker(row));
      table.of(row.id).steps.push(readStep(sent, row));
    }
  }
  return rows;
}

/**
 * Adds an existing row to the model if the request that created the row got no response. The marker identifies the
 * request.
 */
function adopt<Row extends { id: number }>(table: Table<Row>, id: number, marker: string | undefined): void {
  if (table.has(id)) return;
  const creation = table.creations.find((each) => each.marker === marker);
  if (creation === undefined) return;
  table.of(id).steps.push(creation.step(id));
  table.know(id);
  creation.marker = '';
}

async function readTickets(turn: Turn, workspace: Workspace): Promise<void> {
  const { world } = turn;
  const rows = await readRows<Ticket>(turn, workspace.tickets, {
    operation: 'tickets.list',
    marker: ({ title }) => title.split(' ')[0],
  });
  // Ticket numbers start at 1 for each type and increase with the ids. They have no gaps, because no transaction was
  // rolled back after it had assigned a number.
  const counts: Record<string, number> = {};
  for (const { type, ticketNumber } of rows.toReversed()) {
    counts[type] = (counts[type] ?? 0) + 1;
    if (ticketNumber !== `${prefixes[type]}-${counts[type]}`) {
      world.find(`${ticketNumber} has the place of ${prefixes[type]}-${counts[type]}`);
    }
  }
}

async function readWebhooks(turn: Turn, { webhooks }: Workspace): Promise<void> {
  const listed = new Set<number>();
  for (const [, data] of await readPages(turn, 'webhooks.list')) {
    for (const { id, url } of data as { id: number; url: string }[]) {
      adopt(webhooks, id, url.split('/')[4]);
      listed.add(id);
    }
  }
  // Lists omit deactivated subscriptions, so the check reads every subscription by id.
  for (const id of [...webhooks.known]) {
    if (webhooks.of(id).state?.row.active === false) continue;
    const sent = await turn.ask('webhooks.get', { params: { id } });
    const data = sent?.answer?.body?.data;
    if (sent === undefined || data === undefined) continue;
    webhooks.of(id).steps.push(readStep(sent, select(data)));
    if (listed.has(id) !== data.active)
      turn.world.expect(false, 'the list of subscriptions differs from the active ones', sent);
  }
}

/** Reports each bulk request that got no response and created only some of its tickets. */
function adoptAll(world: World, { tickets, assets, tasks, webhooks }: Workspace): void {
  const made = Map.groupBy(tickets.creations, ({ request }) => request);
  for (const [request, creations] of made) {
    if (request === undefined) continue;
    const found = creations.filter(({ marker }) => marker === '');
    if (found.length !== 0 && found.length !== creations.length) {
      world.find(`command ${request} created ${found.length} tickets instead of ${creations.length}`);
    }
  }
  for (const { creations } of [tickets, assets, tasks, webhooks]) creations.length = 0;
}

/** Reads the activities of all changed tickets and assets, and the comments, links, attachments or approvals of all tickets with new ones. */
async function readHistories(turn: Turn, { tickets, assets }: Workspace): Promise<void> {
  const wasWritten = ({ steps }: RowHistory<never>) => steps.some(({ isRead }) => !isRead);
  const paging = { page: 1, perPage: 100 };
  const read = async <Row extends { id: number }>(
    table: Table<Row>,
    operation: string,
    kind: 'mutations' | 'comments' | 'links' | 'attachments' | 'approvals',
    id: number,
  ) => {
    const sent = await turn.ask(operation, { params: { id }, search: searchOf(paging) });
    if (sent?.answer !== undefined) table.of(id).steps.push(listed(sent, kind, paging));
  };
  for (const row of tickets.rows.values()) {
    if (!wasWritten(row as RowHistory<never>)) continue;
    await read(tickets, 'activities.ofTicket', 'mutations', row.id);
    const isWritten = (path: string) => row.steps.some((step) => !step.isRead && step.describe().includes(path));
    if (isWritten('/comments')) await read(tickets, 'comments.list', 'comments', row.id);
    if (isWritten('/attachments')) await read(tickets, 'attachments.list', 'attachments', row.id);
    const hasApprovals = (row.state?.row as WithApprovals | undefined)?.[approvalsOf]?.length ?? 0;
    if (hasApprovals > 0 || isWritten('approvals')) await read(tickets, 'approvals.ofTicket', 'approvals', row.id);
    if (isWritten('/links')) await read(tickets, 'links.list', 'links', row.id);
  }
  for (const row of assets.rows.values()) {
    if (wasWritten(row as RowHistory<never>)) await read(assets, 'activities.ofAsset', 'mutations', row.id);
  }
}

/**
 * Orders the steps of a row. If the steps have no valid order, reports a violation and removes the row from the model.
 */
function order<Row extends { id: number }>(
  world: World,
  what: string,
  table: Table<Row>,
  row: RowHistory<Row>,
): Placed<State<Row>>[] {
  const steps = row.steps.splice(0);
  if (steps.length === 0) return [];
  const placed = linearize(row.state, steps);
  if (placed === undefined) {
    const shortest = shortestWithoutOrder(row.state, steps).toSorted((a, b) => a.begin - b.begin);
    const lines = shortest.map((step) => `${step.begin}–${step.end} ${step.describe()}`);
    const before = row.state === undefined ? 'not there' : JSON.stringify(row.state.row);
    world.find(`no order explains the responses about ${what} ${row.id}`, [`before: ${before}`, ...lines]);
    table.rows.delete(row.id);
    return [];
  }
  row.state = placed.at(-1)?.state ?? row.state;
  return placed;
}

/** The states of a row since the previous checkpoint, in order. */
interface Versions<Row> {
  /** True if the row may have had other states, because a request got no response. */
  isOpen: boolean;
  versions: { row: Row | undefined; begin: number; end: number }[];
}

function orderAll<Row extends { id: number }>(
  world: World,
  resource: Resource,
  table: Table<Row>,
  onMutations: (mutations: State<Row>['mutations']) => void,
): Versions<Row>[] {
  return [...table.rows.values()].map((row) => {
    const before = row.state;
    const isOpen = row.steps.some(({ isCertain }) => !isCertain);
    const placed = order(world, resource, table, row);
    onMutations(row.state?.mutations.slice(before?.mutations.length ?? 0) ?? []);
    const written = placed.filter(({ step }) => !step.isRead);
    return {
      isOpen,
      versions: [
        { row: before?.row, begin: 0, end: 0 },
        ...written.map(({ step, state }) => {
          const last = row.state?.row ?? state.row;
          return { row: withLaterValues(state.row, last), begin: step.begin, end: step.end };
        }),
      ],
    };
  });
}

/**
 * Replaces placeholders in a row with values from later responses, such as the creation time. These values never
 * change, so filters can use them from the start. A later due date may be another one.
 */
function withLaterValues<Row extends object>(row: Row, last: Row): Row {
  const names = Object.keys(row) as (keyof Row)[];
  const isKept = (name: keyof Row) => row[name] === unknownText && !/dueAt$/i.test(String(name));
  const reported = names.filter(isKept).map((name) => [name, last[name]]);
  return { ...row, ...Object.fromEntries(reported) };
}

/**
 * Checks the total of a list that was read during changes. The total must be at least the number of rows that certainly
 * matched, and at most the number of rows that possibly matched.
 */
function compareTotal<Row extends { id: number }>(
  world: World,
  rows: readonly Versions<Row>[],
  { request, begin, end, totalCount, isIn }: Table<Row>['lists'][number],
): void {
  let [least, most] = [0, 0];
  for (const { isOpen, versions } of rows) {
    const matches = versions
      .filter((version, index) => version.begin < end && (versions[index + 1]?.end ?? Number.POSITIVE_INFINITY) > begin)
      .map(({ row }) => row !== undefined && isIn(row));
    const all = isOpen ? versions.map(({ row }) => row !== undefined && isIn(row)) : matches;
    if (all.some((isMatch) => isMatch !== false)) most++;
    if (!isOpen && all.every((isMatch) => isMatch === true)) least++;
  }
  if (totalCount < least || totalCount > most) {
    world.find(`a list has the total ${totalCount} instead of ${least} to ${most}`, [
      `${begin}–${end} ${requestText(request)}`,
    ]);
  }
}

/** Checks that no ticket is its own ancestor, and updates the parents in the model. */
function compareTickets(world: World, { tickets, parents }: Workspace): void {
  const rows = tickets.current();
  const parentOf = new Map(rows.map(({ id, parentId }) => [id, parentId]));
  for (const { id } of rows) {
    const seen = new Set<number>();
    for (let each = parentOf.get(id); each != null && !seen.has(each); each = parentOf.get(each)) {
      if (each === id) world.find(`ticket ${id} is its own ancestor`);
      seen.add(each);
    }
  }
  parents.clear();
  for (const { id, parentId } of rows) if (parentId !== null) parents.set(id, new Set([parentId]));
}

/**
 * Checks that external ids are unique, and that each comment that the server named in an error has the external id. The
 * copy of the comments is complete, because this function runs after the comparison of the change feeds.
 */
function compareExternalIds(world: World, { tickets, assets, taken, walkers }: Workspace): void {
  const comments = (walkers.comments[0]?.copy ?? new Map()) as ReadonlyMap<number, Comment>;
  const all = { tickets: tickets.current(), assets: assets.current(), comments: [...comments.values()] };
  for (const [resource, rows] of Object.entries(all)) {
    const externalIds = rows.flatMap(({ externalId }) => externalId ?? []);
    if (new Set(externalIds).size < externalIds.length) world.find(`two ${resource} have the same external id`);
  }
  for (const { externalId, id } of taken.splice(0)) {
    if (comments.get(id)?.externalId !== externalId) world.find(`comment ${id} does not have the id ${externalId}`);
  }
}

/** Compares lists with the model. Requests one list for each filter value, and lists with random filters. */
async function compareLists(turn: Turn, workspace: Workspace, seed: number): Promise<void> {
  const me = turn.key.userId;
  const tickets = workspace.tickets.current();
  const ask = async <Row extends { id: number }>(
    operation: string,
    rows: readonly Row[],
    {
      query,
      isIn,
      params = {},
    }: { query: ListQuery; isIn(row: Row, sent: Sent): boolean | undefined; params?: Record<string, number> },
  ) => {
    const sent = await turn.ask(operation, { params, search: searchOf(query) });
    expectList(turn, rows, sent, { query, isIn });
  };
  const askTickets = (query: ListQuery) =>
    ask('tickets.list', tickets, { query, isIn: (row, sent) => isTicketIn(row, query, me, sent) });
  const values = {
    status: ['OPEN', 'IN_PROGRESS', 'PENDING', 'RESOLVED', 'CLOSED', 'CANCELLED'],
    priority: ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'],
    type: Object.keys(prefixes),
    category: ['SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER'],
    assigneeId: ['none', 'me', ...workspace.users.map(({ id }) => id)],
    teamId: ['none', ...workspace.teams.map(({ id }) => id)],
  };
  for (const [name, some] of Object.entries(values)) {
    for (const value of some) await askTickets({ page: 1, perPage: 2, [name]: [value] });
  }
  for (const name of ['overdue', 'firstResponseOverdue']) await askTickets({ page: 1, perPage: 100, [name]: true });
  for (const query of fc.sample(ticketQueryGiven, { seed, numRuns: searches }))
    await askTickets(ticketQuery(turn, query));

  const assets = workspace.assets.current();
  for (const query of [{}, { status: ['IN_USE', 'IN_STOCK'] }, { type: ['LAPTOP'] }, { q: 'vpn' }]) {
    await ask('assets.list', assets, { query, isIn: (row) => isAssetIn(row, query) });
  }
  const approvals = tickets.flatMap((row: WithApprovals) => row[approvalsOf] ?? []);
  for (const query of [{}, { approverId: ['me'] }, { decision: ['PENDING'] }, { decision: ['APPROVED', 'REJECTED'] }]) {
    await ask('approvals.list', approvals, { query, isIn: (row) => matchesApprovalQuery(row, query, me) });
  }
  for (const { id: projectId } of workspace.projects) {
    for (const query of [{}, { status: ['TODO', 'DONE'] }, { priority: ['HIGH'] }]) {
      const isIn = (row: { projectId: number } & Parameters<typeof isTaskIn>[0]) =>
        row.projectId === projectId && isTaskIn(row, query);
      await ask('tasks.list', workspace.tasks.current(), { query, isIn, params: { id: projectId } });
    }
  }
}

/**
 * Reads a change feed to its end, and compares the readers' copies with the model.
 * @param pairsOf returns the expected values, each with the value in the reader's copy
 */
async function compareFeed(
  turn: Turn,
  workspace: Workspace,
  resource: Followed,
  pairsOf: (walker: Walker) => [expected: unknown, copied: unknown][],
): Promise<void> {
  for (const walker of workspace.walkers[resource]) {
    for (const deadline = Date.now() + maxWaitMs; ; ) {
      const hasMore = await followPage(turn, resource, walker, 100);
      if (hasMore) continue;
      const missing = pairsOf(walker).filter(([expected, copied]) => !agrees(expected, copied));
      if (missing.length === 0) break;
      if (Date.now() < deadline) {
        await sleep(20);
        continue;
      }
      const history = missing.slice(0, 3).map((pair) => pair.map((each) => JSON.stringify(each)).join('\n    '));
      turn.world.find(`the change feed of ${resource} omitted ${missing.length} rows`, history);
      break;
    }
  }
}

/** Reads all change feeds to their ends, and compares the readers' copies with the rows in the model. */
async function compareCopies(turn: Turn, workspace: Workspace): Promise<void> {
  for (const resource of Object.keys(followed) as (keyof typeof followed)[]) {
    const rows = isFixed(resource) ? workspace[resource] : workspace[resource].current();
    await compareFeed(turn, workspace, resource, ({ copy }) => rows.map((row) => [row, copy.get(row.id)]));
  }
  const { tickets, assets } = workspace;
  const logs = {
    comments: () => [...tickets.rows.values()].map(({ id, state }) => [id, state?.comments]),
    ticketActivity: () => [...tickets.rows.values()].map(({ id, state }) => [id, state?.mutations.map(activityOf)]),
    assetActivity: () => [...assets.rows.values()].map(({ id, state }) => [id, state?.mutations.map(activityOf)]),
  } satisfies Record<keyof typeof followedLogs, () => unknown>;
  for (const [resource, expectedOf] of Object.entries(logs) as [
    keyof typeof followedLogs,
    () => [number, unknown][],
  ][]) {
    const expected = expectedOf();
    await compareFeed(turn, workspace, resource, ({ copy }) => {
      const entries = [...copy.values()] as { id: number; ticketId?: number; assetId?: number }[];
      const byOwner = Map.groupBy(entries, ({ ticketId, assetId }) => ticketId ?? assetId);
      return expected.map(([id, rows = []]) => [rows, (byOwner.get(id) ?? []).toSorted((a, b) => a.id - b.id)]);
    });
  }
  for (const resource of ['tickets', 'assets', 'tasks'] as const) {
    const table: Table<{ id: number }> = workspace[resource];
    for (const row of table.rows.values()) order(turn.world, resource, table, row);
  }
}
