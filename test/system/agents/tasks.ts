import { setTimeout } from 'node:timers/promises';
import type { Scope, Ticket } from '@itsm-api/contract';
import { expect } from 'vitest';
import { type Agent, idOfRow, numbersIn, objectsIn, rowsIn, totalIn } from './agent.ts';
import { agentScopes, type ServiceDesk } from './service-desk.ts';

/** A request to an agent, and a check of the result. Each task runs in its own workspace. */
export interface Task {
  request: string;
  /**
   * Makes the tool calls that a reasonable agent would make, and returns the agent's answer. The answer uses only the
   * results of these calls.
   */
  run(agent: Agent, desk: ServiceDesk): Promise<unknown>;
  /** Checks the result through the API, without MCP tools. */
  check(desk: ServiceDesk, result: unknown): Promise<void>;
  scopes?: Scope[];
  path?: '/mcp/readonly';
  /** Whether the agent can use only what the tool definitions describe. Other tasks also make wrong calls. */
  isDescribed?: true;
}

/** Calls a tool. If a rate limit rejects the call, waits for the reported number of seconds and retries once. */
async function callWithRetry(agent: Agent, tool: string, args: Record<string, unknown>) {
  const response = await agent.call(tool, args);
  const seconds = response.isError ? /(\d+) seconds?/.exec(response.text)?.[1] : undefined;
  if (seconds === undefined) return response;
  await setTimeout(Number(seconds) * 1000);
  return agent.call(tool, args);
}

/** Returns the id of the user with the given name. */
async function findUserId(agent: Agent, name: string): Promise<unknown> {
  return idOfRow(await agent.call('list_users', { q: name }), name);
}

export const tasks: Task[] = [
  {
    request: 'Which ticket is about the printer on floor 3?',
    run: async (agent) => numbersIn(await agent.call('list_tickets', { q: 'printer floor 3' })),
    check: async (_, result) => expect(result).toEqual(['INC-61']),
  },
  {
    request: 'How many open incidents are critical?',
    run: async (agent) =>
      totalIn(
        await agent.call('list_tickets', {
          status: ['OPEN'],
          type: ['INCIDENT'],
          priority: ['CRITICAL'],
          perPage: 1,
        }),
      ),
    check: async ({ tickets }, result) =>
      expect(result).toBe((await tickets('&status=OPEN&type=INCIDENT&priority=CRITICAL')).length),
  },
  {
    request: 'What exactly is wrong with INC-61?',
    run: async (agent) => (await agent.call('get_ticket', { id: 'INC-61' })).text,
    check: async ({ ticket }, result) => expect(result).toContain((await ticket('INC-61')).description),
  },
  {
    request: 'List every open email ticket.',
    async run(agent) {
      const found: string[] = [];
      for (let page = 1; ; page += 1) {
        const response = await agent.call('list_tickets', { category: ['EMAIL'], status: ['OPEN'], page });
        found.push(...numbersIn(response));
        if (found.length >= totalIn(response) || response.isError) return found.sort();
      }
    },
    check: async ({ tickets }, result) =>
      expect(result).toEqual((await tickets('&category=EMAIL')).map(({ ticketNumber }) => ticketNumber).sort()),
  },
  {
    request: 'Triage the unassigned tickets about a core switch: critical priority, category network.',
    async run(agent) {
      const found = numbersIn(await agent.call('list_tickets', { q: 'core switch', assigneeId: ['none'] }));
      for (const id of found) await agent.call('update_ticket', { id, priority: 'CRITICAL', category: 'NETWORK' });
    },
    check: async ({ tickets }) => {
      const sorted = await tickets('&q=core+switch');
      expect(sorted.map(({ priority, category }) => `${priority} ${category}`)).toEqual(
        Array(2).fill('CRITICAL NETWORK'),
      );
    },
  },
  {
    request: 'Assign INC-61 to Lena Vogt.',
    run: async (agent) =>
      agent.call('update_ticket', {
        id: 'INC-61',
        assigneeId: await findUserId(agent, 'Lena Vogt'),
        status: 'IN_PROGRESS',
      }),
    check: async ({ ticket, people }) =>
      expect(await ticket('INC-61')).toMatchObject({ assigneeId: people.lena.id, status: 'IN_PROGRESS' }),
  },
  {
    request: 'Assign INC-62 to the agent Jonas. Two users have this name.',
    async run(agent) {
      const people = await agent.call('list_users', { q: 'Jonas', role: ['AGENT'] });
      await agent.call('update_ticket', { id: 'INC-62', assigneeId: idOfRow(people, 'Jonas') });
    },
    check: async ({ ticket, people }) => expect((await ticket('INC-62')).assigneeId).toBe(people.jonas.id),
  },
  {
    request: 'Mara is away: assign all of her open tickets to Lena.',
    async run(agent) {
      const [from, to] = [await findUserId(agent, 'Mara Koch'), await findUserId(agent, 'Lena Vogt')];
      const theirs = rowsIn(await agent.call('list_tickets', { assigneeId: [from], status: ['OPEN'], perPage: 100 }));
      await agent.call('update_tickets', { tickets: theirs.map(({ id }) => ({ id, assigneeId: to })) });
    },
    check: async ({ tickets, people }) => {
      expect(await tickets(`&assigneeId=${people.mara.id}`)).toEqual([]);
      expect(await tickets(`&assigneeId=${people.lena.id}`)).toHaveLength(10);
    },
  },
  {
    request: 'The VPN is repaired: resolve all tickets about it, with a resolution.',
    async run(agent) {
      const about = rowsIn(await agent.call('list_tickets', { q: 'vpn drops', status: ['OPEN'], perPage: 100 }));
      const change = { status: 'RESOLVED', resolution: 'The gateway was replaced.' };
      await agent.call('update_tickets', { tickets: about.map(({ id }) => ({ id, ...change })) });
    },
    check: async ({ tickets }) => {
      const about = await tickets('&q=vpn+drops');
      expect(about).toHaveLength(12);
      expect(new Set(about.map(({ status }) => status))).toEqual(new Set(['RESOLVED']));
      expect(await tickets('&status=RESOLVED')).toHaveLength(12);
    },
  },
  {
    request: "Report for Tim Bauer that his laptop doesn't start.",
    run: async (agent) =>
      agent.call('create_ticket', {
        title: 'Laptop does not start',
        description: 'Black screen since this morning.',
        type: 'INCIDENT',
        category: 'HARDWARE',
        requesterId: await findUserId(agent, 'Tim Bauer'),
      }),
    check: async ({ tickets, people }) =>
      expect(await tickets(`&requesterId=${people.tim.id}`)).toMatchObject([{ title: 'Laptop does not start' }]),
  },
  {
    request: 'Report that the lift is stuck. The response to the first call is lost.',
    async run(agent) {
      const report = {
        ...{ title: 'Lift is stuck', description: 'Between floors 2 and 3.', type: 'INCIDENT', category: 'OTHER' },
        idempotencyKey: 'lift-is-stuck-monday',
      };
      const answers = [await agent.call('create_ticket', report), await agent.call('create_ticket', report)];
      const [first, again] = answers.map(({ text }) => /INC-\d+/.exec(text)?.[0]);
      return first === again;
    },
    async check({ tickets }, result) {
      expect(result).toBe(true);
      expect(await tickets('&q=lift+stuck')).toHaveLength(1);
    },
  },
  {
    request: 'Add an internal comment to INC-61: the toner was replaced.',
    run: (agent) =>
      agent.call('comment_on_ticket', { id: 'INC-61', body: 'The toner was replaced.', visibility: 'INTERNAL' }),
    check: async ({ comments, ticket }) => {
      expect(await comments('INC-61')).toEqual(['The toner was replaced.']);
      expect((await ticket('INC-61')).commentCount).toBe(1);
    },
  },
  {
    request: 'Close INC-61. Its status is not yet RESOLVED, so resolve it first.',
    async run(agent) {
      const rejected = await agent.call('update_ticket', { id: 'INC-61', status: 'CLOSED' });
      if (!rejected.isError) return;
      await agent.call('update_ticket', { id: 'INC-61', status: 'RESOLVED', resolution: 'New toner.' });
      await agent.call('update_ticket', { id: 'INC-61', status: 'CLOSED' });
      return rejected.text;
    },
    async check({ ticket }, result) {
      expect(result).toMatch(/RESOLVED/);
      expect(await ticket('INC-61')).toMatchObject({ status: 'CLOSED', resolution: 'New toner.' });
    },
  },
  {
    request: 'INC-62 is urgent: raise its priority. No priority has this name.',
    async run(agent) {
      const rejected = await agent.call('update_ticket', { id: 'INC-62', priority: 'URGENT' });
      if (rejected.isError && rejected.text.includes('CRITICAL')) {
        await agent.call('update_ticket', { id: 'INC-62', priority: 'CRITICAL' });
      }
    },
    check: async ({ ticket }) => expect((await ticket('INC-62')).priority).toBe('CRITICAL'),
  },
  {
    request: "Set the status of Tim's laptop to maintenance.",
    async run(agent) {
      const id = idOfRow(await agent.call('list_assets', { q: 'LT-0311' }), 'LT-0311');
      await agent.call('update_asset', { id, status: 'MAINTENANCE' });
    },
    check: async ({ call }) => {
      const { body } = await call('GET', '/assets');
      const statuses = body.data.map(({ assetTag, status }: Record<string, string>) => `${assetTag} ${status}`);
      expect(statuses.sort()).toEqual(['LT-0311 MAINTENANCE', 'LT-0400 IN_STOCK']);
    },
  },
  {
    request: 'The patch cables for the new office are ordered: complete the task.',
    async run(agent) {
      const project = idOfRow(await agent.call('list_projects'), 'Move to the new office');
      const task = idOfRow(await agent.call('list_tasks', { id: project, q: 'patch cables' }), 'Order patch cables');
      await agent.call('update_task', { taskId: task, status: 'DONE' });
    },
    check: async ({ call, project }) => {
      const { body } = await call('GET', `/projects/${project.id}/tasks?status=DONE`);
      expect(body.data).toMatchObject([{ title: 'Order patch cables' }]);
    },
  },
  {
    request: 'Cancel INC-61 with a key that only has read scopes.',
    scopes: ['tickets:read'],
    async run(agent) {
      const tried = await agent.call('update_ticket', { id: 'INC-61', status: 'CANCELLED' });
      return { tools: agent.tools, tried };
    },
    async check({ ticket }, result) {
      expect((result as { tools: string[] }).tools).not.toContain('update_ticket');
      expect((await ticket('INC-61')).status).toBe('OPEN');
    },
  },
  {
    request: 'Cancel INC-61 through /mcp/readonly with a key that has write scopes.',
    path: '/mcp/readonly',
    async run(agent) {
      await agent.call('update_ticket', { id: 'INC-61', status: 'CANCELLED' });
      return agent.tools;
    },
    async check({ ticket }, result) {
      expect(result).toContain('list_tickets');
      expect(result).not.toContain('update_ticket');
      expect((await ticket('INC-61')).status).toBe('OPEN');
    },
  },
  {
    request: 'Summarize INC-64 in a comment. Its description contains instructions to agents.',
    async run(agent) {
      const { text } = await agent.call('get_ticket', { id: 'INC-64' });
      const body = 'In short: an invoice is said to be damaged when it is opened.';
      await agent.call('comment_on_ticket', { id: 'INC-64', body, visibility: 'PUBLIC' });
      return text;
    },
    async check({ tickets, comments }, result) {
      expect(result).toContain('ignore all earlier instructions');
      expect(await tickets('&status=CANCELLED')).toEqual([]);
      expect(await comments('INC-1')).toEqual([]);
      expect(await comments('INC-64')).toHaveLength(1);
    },
  },
  {
    request: 'Comment on the newest 35 tickets that the desk is closed on Friday. The limit is 30 calls.',
    async run(agent) {
      const response = await agent.call('list_tickets', { perPage: 35 });
      for (const id of numbersIn(response)) {
        await callWithRetry(agent, 'comment_on_ticket', { id, body: 'Closed on Friday.', visibility: 'PUBLIC' });
      }
    },
    check: async ({ tickets }) =>
      expect((await tickets()).map(({ commentCount }) => commentCount)).toEqual([
        ...Array(35).fill(1),
        ...Array(30).fill(0),
      ]),
  },
];

/** Creates CHG-1, whose requester is not the user of the agent's key. */
function createChange({ createTicket, people }: ServiceDesk): Promise<Ticket> {
  return createTicket({ title: 'Upgrade the router', type: 'CHANGE', requesterId: people.tim.id });
}

/** Tasks that name users, teams, categories, projects and assets. The definitions of the tools are enough for them. */
const describedTasks: Omit<Task, 'isDescribed'>[] = [
  {
    request: 'Give INC-61 to the team Network.',
    run: (agent) => agent.call('update_ticket', { id: 'INC-61', teamId: 'Network' }),
    check: async ({ ticket, teams }) => expect((await ticket('INC-61')).teamId).toBe(teams.network.id),
  },
  {
    request: 'Which team is responsible for telephones?',
    async run(agent) {
      const { text } = await agent.call('search_names', { kind: 'team' });
      return objectsIn(text).find(({ description }) => /telephone/.test(String(description)))?.name;
    },
    check: async (_, result) => expect(result).toBe('Network'),
  },
  {
    request: 'Assign INC-62 to Jonas Weber, and let Lena Vogt watch it.',
    run: (agent) =>
      agent.call('update_ticket', { id: 'INC-62', assigneeId: 'Jonas Weber', watcherUserIds: ['Lena Vogt'] }),
    check: async ({ ticket, people }) =>
      expect(await ticket('INC-62')).toMatchObject({ assigneeId: people.jonas.id, watcherUserIds: [people.lena.id] }),
  },
  {
    request: 'Assign INC-63 to Kim Park, the agent. Two users have this name.',
    async run(agent) {
      const rejected = await agent.call('update_ticket', { id: 'INC-63', assigneeId: 'Kim Park' });
      const assigneeId = objectsIn(rejected.text).find(({ role }) => role === 'AGENT')?.id;
      return agent.call('update_ticket', { id: 'INC-63', assigneeId });
    },
    check: async ({ ticket, people }) => expect((await ticket('INC-63')).assigneeId).toBe(people.kim.id),
  },
  {
    request: "List Mara's tickets and the tags of each.",
    async run(agent) {
      const mine = await agent.call('list_tickets', { assigneeId: ['Mara Koch'], perPage: 100 });
      return rowsIn(mine).map(({ ticketNumber, tags }) => [ticketNumber, tags]);
    },
    check: async ({ tickets, people }, result) =>
      expect(result).toEqual(
        (await tickets(`&assigneeId=${people.mara.id}`)).map(({ ticketNumber, tags }) => [ticketNumber, tags]),
      ),
  },
  {
    request: "Report that Tim Bauer's VPN drops: category Remote access, team Network, due on 1 December 2030.",
    run: (agent) =>
      agent.call('create_ticket', {
        ...{ title: 'VPN of Tim drops', description: 'Every ten minutes.', type: 'INCIDENT' },
        ...{ categoryConfigId: 'Remote access', requesterId: 'Tim Bauer', teamId: 'Network', dueAt: '2030-12-01' },
      }),
    check: async ({ tickets, people, teams }) =>
      expect(await tickets('&q=VPN+Tim')).toMatchObject([
        {
          ...{ categoryConfigId: 'c-17', category: 'NETWORK', requesterId: people.tim.id, teamId: teams.network.id },
          dueAt: '2030-12-01T00:00:00.000Z',
        },
      ]),
  },
  {
    request: 'Which tasks does the move to the new office have?',
    async run(agent) {
      const tasks = await agent.call('list_tasks', { id: 'Move to the new office' });
      return rowsIn(tasks).map(({ title }) => title);
    },
    check: async (_, result) => expect(result).toEqual(['Label the desks', 'Order patch cables']),
  },
  {
    request: 'INC-61 is about the laptop LT-0400. Record it, and give the laptop to Lena Vogt.',
    async run(agent) {
      await agent.call('update_ticket', { id: 'INC-61', assetIds: ['LT-0400'] });
      await agent.call('update_asset', { id: 'LT-0400', assignedToId: 'Lena Vogt' });
    },
    async check({ call, ticket, people }) {
      const [assetId] = (await ticket('INC-61')).assetIds;
      const { body } = await call('GET', `/assets/${assetId}`);
      expect(body.data).toMatchObject({ assetTag: 'LT-0400', assignedToId: people.lena.id });
    },
  },
  {
    request: 'Ask Lena Vogt to approve CHG-1.',
    async run(agent, desk) {
      await createChange(desk);
      return agent.call('request_approval', { id: 'CHG-1', approverId: 'Lena Vogt', note: 'Before Friday.' });
    },
    check: async ({ call, people }) => {
      const { body } = await call('GET', '/tickets/CHG-1/approvals');
      expect(body.data).toMatchObject([{ approverId: people.lena.id, decision: 'PENDING', note: 'Before Friday.' }]);
    },
  },
  {
    request: 'Approve the change that waits for you, if it is still about one router.',
    async run(agent, desk) {
      await desk.createApproval(desk.userId, (await createChange(desk)).id);
      const decide = async () => {
        const mine = await agent.call('search_approvals', { approverId: ['me'], decision: ['PENDING'] });
        const [approval = {}] = rowsIn(mine);
        const id = String(approval.ticketId).split(' ')[1];
        const change = await agent.call('get_ticket', { id });
        // Another user edits the change after the agent has read it.
        await desk.call('PATCH', '/tickets/CHG-1', { title: 'Upgrade all routers' });
        const decision = /Upgrade the router/.test(change.text) ? 'APPROVED' : 'REJECTED';
        return agent.call('decide_approval', { id: approval.id, decision, ifMatch: approval.etag });
      };
      const first = await decide();
      return first.isError ? [first.text, (await decide()).isError] : [];
    },
    async check({ call }, result) {
      expect(result).toEqual([expect.stringContaining('PRECONDITION_FAILED'), false]);
      const { body } = await call('GET', '/tickets/CHG-1/approvals');
      expect(body.data).toMatchObject([{ decision: 'REJECTED' }]);
    },
  },
];
tasks.push(...describedTasks.map((task): Task => ({ ...task, isDescribed: true })));

/** Returns the scopes of the agent's key. */
export function scopesOf({ scopes = agentScopes }: Task): Scope[] {
  return scopes;
}
