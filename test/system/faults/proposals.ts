import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Proposal, type ProposalPreview, pathPrefix, type Scope } from '@itsm-api/contract';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import type { Client } from '@modelcontextprotocol/client';
import { openInstallation } from '../../support/installation.ts';
import { callTool, connectMcp } from '../../support/mcp-client.ts';
import { supervise } from '../../support/server-process.ts';
import { addWorkspace, type Workspace } from '../../support/subscribed-workspaces.ts';

export interface ProposalsReport {
  proposals: number;
  kills: number;
  /** The number of proposals by status. */
  statuses: Record<string, number>;
  /** The contradictions between the proposals and the tickets. */
  faults: string[];
  /** The last output of each server process that exited unexpectedly. */
  crashes: string[];
}

const retryMs = 50;
const agents = 2;

/**
 * Two agents propose with the MCP client of the SDK, and two people accept all proposals, while another client edits
 * half of the tickets, and the API is killed. Then compares the proposals with the activity of the tickets.
 */
export async function runProposals({
  proposals,
  kills,
}: {
  proposals: number;
  kills: number;
}): Promise<ProposalsReport> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { runtime, apiUrl, env } = await openInstallation(stops);
    const workspace = await addWorkspace(runtime, 'Proposing');
    const api = supervise({ ...env, LOG_LEVEL: 'fatal', ROLES: 'api' });
    stops.push(api.stop);
    await api.ready();
    const call = createCaller(apiUrl, workspace.key);
    const tickets: number[] = [];
    for (let number = 0; number < proposals; number++) {
      const ticket = { title: `Ticket ${number}`, description: 'It is broken.', type: 'INCIDENT', category: 'OTHER' };
      tickets.push((await call('POST', '/tickets', ticket)).id);
    }

    let done = 0;
    const agentsEnded = Array.from({ length: agents }, async (_, agent) => {
      const scopes: Scope[] = ['tickets:read', 'tickets:write'];
      const named = { user: 'admin@example.com', name: `agent ${agent}`, scopes, isProposing: true };
      const { key } = await createKey(workspace.context, named);
      const propose = createAgent(apiUrl, key);
      for (let number = agent; number < proposals; number += agents) {
        await propose(number, tickets[number] as number);
        done++;
      }
    });
    let isOver = false;
    const people = Array.from({ length: 2 }, () => acceptAll(call, () => isOver && done === proposals));
    const editing = edit(call, tickets, (number) => done > number);
    const killing = (async () => {
      for (let kill = 0; kill < kills; kill++) {
        while (done < ((kill + 0.5) / kills) * proposals) await sleep(5);
        api.kill();
        await api.ready();
      }
    })();
    await Promise.all([...agentsEnded, editing, killing]);
    isOver = true;
    await Promise.all(people);
    return { kills, ...(await compare(runtime, workspace, proposals)), crashes: api.crashes };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

type Caller = ReturnType<typeof createCaller>;

/** Returns a function that repeats a request until the server responds, and returns the data of the response. */
function createCaller(apiUrl: string, key: string) {
  let requests = 0;
  return async (method: string, path: string, body?: object) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(method === 'POST' && { 'idempotency-key': `request ${requests++}` }),
    };
    for (;;) {
      const response = await fetch(`${apiUrl}${pathPrefix}${path}`, {
        ...{ method, headers },
        ...(body && { body: JSON.stringify(body) }),
      })
        .then(async (response) => ({ status: response.status, body: JSON.parse(await response.text()) }))
        .catch(() => undefined);
      if (response !== undefined && response.status < 500 && response.status !== 409) return response.body.data;
      await sleep(retryMs);
    }
  };
}

/** Returns a function that proposes for a ticket: a new title, a comment, or another ticket. Connects again after a kill. */
function createAgent(apiUrl: string, key: string) {
  let client: Client | undefined;
  const reason = 'An agent proposes it.';
  const calls = [
    (number: number, id: number) => ['update_ticket', { id, title: `Proposed ${number}` }] as const,
    (number: number, id: number) =>
      ['comment_on_ticket', { id, body: `Proposed ${number}`, visibility: 'INTERNAL' }] as const,
    (number: number) =>
      [
        'create_ticket',
        { title: `Proposed ${number}`, description: 'New.', type: 'PROBLEM', category: 'OTHER' },
      ] as const,
  ];
  return async (number: number, id: number) => {
    const [tool, given] = (calls[number % calls.length] as (typeof calls)[number])(number, id);
    for (;;) {
      try {
        client ??= await connectMcp(apiUrl, { key });
        const { text, isError } = await callTool(client, tool, { ...given, reason, idempotencyKey: `once ${number}` });
        if (!isError) return;
        // Someone has changed the ticket to a status in which it can't change.
        if (!/INTERNAL_ERROR|SERVICE_UNAVAILABLE|IDEMPOTENCY_IN_PROGRESS/.test(text)) throw new TypeError(text);
      } catch (error) {
        if (error instanceof TypeError && /^[A-Z_]+: /.test(error.message)) throw error;
        client = undefined;
      }
      await sleep(retryMs);
    }
  };
}

/** Accepts pending proposals until `isOver` returns true and none is left. */
async function acceptAll(call: Caller, isOver: () => boolean): Promise<void> {
  for (;;) {
    const wasOver = isOver();
    const pending: Proposal[] = await call('GET', '/proposals?status=PENDING&perPage=100');
    // Leaves some time to edit the tickets.
    for (const { id } of pending) {
      await sleep(randomInt(40));
      await call('PATCH', `/proposals/${id}`, { decision: 'ACCEPTED' });
    }
    if (wasOver && pending.length === 0) return;
  }
}

/** Changes the title, the status or the description of every second ticket, after an agent has proposed for it. */
async function edit(call: Caller, tickets: readonly number[], isProposed: (number: number) => boolean): Promise<void> {
  for (const [number, id] of tickets.entries()) {
    if (number % 2 === 0) continue;
    while (!isProposed(number)) await sleep(1);
    const edits = [{ title: `Edited ${number}` }, { status: 'IN_PROGRESS' }, { description: 'Edited.' }];
    await call('PATCH', `/tickets/${id}`, edits[number % edits.length] ?? {});
  }
}

/** Compares the proposals with the activity of the tickets, the comments and the ticket numbers. */
async function compare({ prisma }: Runtime, { tenantId }: Workspace, count: number) {
  const where = { tenantId };
  const proposals = await prisma.proposal.findMany({ where, orderBy: { id: 'asc' } });
  const activities = await prisma.activity.findMany({
    where: { ...where, resource: 'TICKET' },
    orderBy: { id: 'asc' },
  });
  const [comments, tickets] = [await prisma.comment.findMany({ where }), await prisma.ticket.findMany({ where })];
  const faults: string[] = [];
  if (proposals.length !== count) faults.push(`${proposals.length} proposals, not ${count}`);
  for (const { id, operation, status, target, preview, createdId } of proposals) {
    const [{ changes, status: seen }] = preview as [ProposalPreview];
    const text = String((changes.title ?? changes.body)?.to);
    const ofTarget = activities.filter(({ resourceId }) => `TICKET:${resourceId}` === target);
    const isOwn = (each: (typeof activities)[number]) => each.changes.title?.to === text;
    const written = {
      tickets_update: () => ofTarget.filter(isOwn).length,
      comments_create: () => comments.filter(({ body }) => body === text).length,
      tickets_create: () => tickets.filter(({ title }) => title === text).length,
    }[operation as 'tickets_update']();
    if (written !== (status === 'ACCEPTED' ? 1 : 0))
      faults.push(`${id} is ${status}, but was written ${written} times`);
    if (!['ACCEPTED', 'STALE'].includes(status)) faults.push(`${id} is ${status}`);
    if (status !== 'ACCEPTED') continue;
    if ((createdId === null) !== (operation === 'tickets_update')) faults.push(`${id} has the created id ${createdId}`);
    const at = ofTarget.findIndex(operation === 'comments_create' ? ({ action }) => action === 'COMMENTED' : isOwn);
    const earlier = ofTarget.slice(0, Math.max(0, at));
    const statusBefore = earlier.findLast((each) => each.changes.status !== undefined)?.changes.status?.to ?? 'OPEN';
    if (target !== null && statusBefore !== seen) faults.push(`${id} was accepted although the status has changed`);
    if (operation === 'tickets_update' && ofTarget[at]?.changes.title?.from !== changes.title?.from)
      faults.push(`${id} was accepted although the title has changed`);
  }
  for (const type of ['INCIDENT', 'PROBLEM']) {
    const numbers = tickets.filter((ticket) => ticket.type === type).map(({ number }) => number);
    if (Math.max(0, ...numbers) !== numbers.length) faults.push(`a number of the type ${type} was skipped`);
  }
  const statuses = Object.fromEntries(
    [...Map.groupBy(proposals, ({ status }) => status)].map(([status, some]) => [status, some.length]),
  );
  return { proposals: proposals.length, statuses, faults };
}
