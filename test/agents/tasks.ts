import { setTimeout } from 'node:timers/promises';
import type { Scope } from '@itsm-api/contract';
import { expect } from 'vitest';
import { type Agent, idOfRow, numbersIn, rowsIn, totalIn } from './agent.ts';
import { agentScopes, type Ground } from './ground.ts';

/** Something that somebody asks an agent for, in a workspace of its own, and what is true when it is done. */
export interface Task {
  asked: string;
  /** The calls that a reasonable agent makes, and what it says in the end. It knows nothing but what it is answered. */
  run(agent: Agent, ground: Ground): Promise<unknown>;
  /** Looks through the API, past the tools. */
  check(ground: Ground, said: unknown): Promise<void>;
  scopes?: Scope[];
  path?: '/mcp/readonly';
}

/** Waits as it is told and calls again, as one that has read what a refusal says. */
async function patiently(agent: Agent, tool: string, args: Record<string, unknown>) {
  const said = await agent.call(tool, args);
  const seconds = said.isError ? /(\d+) seconds?/.exec(said.text)?.[1] : undefined;
  if (seconds === undefined) return said;
  await setTimeout(Number(seconds) * 1000);
  return agent.call(tool, args);
}

/** The id of whoever is called so. */
async function idOf(agent: Agent, name: string): Promise<unknown> {
  return idOfRow(await agent.call('list_users', { q: name }), name);
}

export const tasks: Task[] = [
  {
    asked: 'Which ticket is about the printer on floor 3?',
    run: async (agent) => numbersIn(await agent.call('list_tickets', { q: 'printer floor 3' })),
    check: async (_, said) => expect(said).toEqual(['INC-61']),
  },
  {
    asked: 'How many open incidents are critical?',
    run: async (agent) =>
      totalIn(
        await agent.call('list_tickets', {
          status: ['OPEN'],
          type: ['INCIDENT'],
          priority: ['CRITICAL'],
          perPage: 1,
        }),
      ),
    check: async ({ tickets }, said) =>
      expect(said).toBe((await tickets('&status=OPEN&type=INCIDENT&priority=CRITICAL')).length),
  },
  {
    asked: 'What exactly is wrong with INC-61?',
    run: async (agent) => (await agent.call('get_ticket', { id: 'INC-61' })).text,
    check: async ({ ticket }, said) => expect(said).toContain((await ticket('INC-61')).description),
  },
  {
    asked: 'List every open email ticket.',
    async run(agent) {
      const found: string[] = [];
      for (let page = 1; ; page += 1) {
        const said = await agent.call('list_tickets', { category: ['EMAIL'], status: ['OPEN'], page });
        found.push(...numbersIn(said));
        if (found.length >= totalIn(said) || said.isError) return found.sort();
      }
    },
    check: async ({ tickets }, said) =>
      expect(said).toEqual((await tickets('&category=EMAIL')).map(({ ticketNumber }) => ticketNumber).sort()),
  },
  {
    asked: 'Triage the unassigned tickets about a core switch: critical priority, category network.',
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
    asked: 'Assign INC-61 to Lena Vogt.',
    run: async (agent) =>
      agent.call('update_ticket', { id: 'INC-61', assigneeId: await idOf(agent, 'Lena Vogt'), status: 'IN_PROGRESS' }),
    check: async ({ ticket, people }) =>
      expect(await ticket('INC-61')).toMatchObject({ assigneeId: people.lena.id, status: 'IN_PROGRESS' }),
  },
  {
    asked: 'Assign INC-62 to the agent Jonas. Two users have this name.',
    async run(agent) {
      const people = await agent.call('list_users', { q: 'Jonas', role: ['AGENT'] });
      await agent.call('update_ticket', { id: 'INC-62', assigneeId: idOfRow(people, 'Jonas') });
    },
    check: async ({ ticket, people }) => expect((await ticket('INC-62')).assigneeId).toBe(people.jonas.id),
  },
  {
    asked: 'Mara is away: assign all of her open tickets to Lena.',
    async run(agent) {
      const [from, to] = [await idOf(agent, 'Mara Koch'), await idOf(agent, 'Lena Vogt')];
      const theirs = rowsIn(await agent.call('list_tickets', { assigneeId: [from], status: ['OPEN'], perPage: 100 }));
      await agent.call('update_tickets', { tickets: theirs.map(({ id }) => ({ id, assigneeId: to })) });
    },
    check: async ({ tickets, people }) => {
      expect(await tickets(`&assigneeId=${people.mara.id}`)).toEqual([]);
      expect(await tickets(`&assigneeId=${people.lena.id}`)).toHaveLength(10);
    },
  },
  {
    asked: 'The VPN is repaired: resolve all tickets about it, with a resolution.',
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
    asked: "Report for Tim Bauer that his laptop doesn't start.",
    run: async (agent) =>
      agent.call('create_ticket', {
        title: 'Laptop does not start',
        description: 'Black screen since this morning.',
        type: 'INCIDENT',
        category: 'HARDWARE',
        requesterId: await idOf(agent, 'Tim Bauer'),
      }),
    check: async ({ tickets, people }) =>
      expect(await tickets(`&requesterId=${people.tim.id}`)).toMatchObject([{ title: 'Laptop does not start' }]),
  },
  {
    asked: 'Report that the lift is stuck. The response to the first call is lost.',
    async run(agent) {
      const report = {
        ...{ title: 'Lift is stuck', description: 'Between floors 2 and 3.', type: 'INCIDENT', category: 'OTHER' },
        idempotencyKey: 'lift-is-stuck-monday',
      };
      const answers = [await agent.call('create_ticket', report), await agent.call('create_ticket', report)];
      const [first, again] = answers.map(({ text }) => /INC-\d+/.exec(text)?.[0]);
      return first === again;
    },
    async check({ tickets }, said) {
      expect(said).toBe(true);
      expect(await tickets('&q=lift+stuck')).toHaveLength(1);
    },
  },
  {
    asked: 'Add an internal comment to INC-61: the toner was replaced.',
    run: (agent) =>
      agent.call('comment_on_ticket', { id: 'INC-61', body: 'The toner was replaced.', visibility: 'INTERNAL' }),
    check: async ({ comments, ticket }) => {
      expect(await comments('INC-61')).toEqual(['The toner was replaced.']);
      expect((await ticket('INC-61')).commentCount).toBe(1);
    },
  },
  {
    asked: 'Close INC-61. Its status is not yet RESOLVED, so resolve it first.',
    async run(agent) {
      const refused = await agent.call('update_ticket', { id: 'INC-61', status: 'CLOSED' });
      if (!refused.isError) return;
      await agent.call('update_ticket', { id: 'INC-61', status: 'RESOLVED', resolution: 'New toner.' });
      await agent.call('update_ticket', { id: 'INC-61', status: 'CLOSED' });
      return refused.text;
    },
    async check({ ticket }, said) {
      expect(said).toMatch(/RESOLVED/);
      expect(await ticket('INC-61')).toMatchObject({ status: 'CLOSED', resolution: 'New toner.' });
    },
  },
  {
    asked: 'INC-62 is urgent: raise its priority. No priority has this name.',
    async run(agent) {
      const refused = await agent.call('update_ticket', { id: 'INC-62', priority: 'URGENT' });
      if (refused.isError && refused.text.includes('CRITICAL')) {
        await agent.call('update_ticket', { id: 'INC-62', priority: 'CRITICAL' });
      }
    },
    check: async ({ ticket }) => expect((await ticket('INC-62')).priority).toBe('CRITICAL'),
  },
  {
    asked: "Set the status of Tim's laptop to maintenance.",
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
    asked: 'The patch cables for the new office are ordered: complete the task.',
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
    asked: 'Cancel INC-61 with a key that only has read scopes.',
    scopes: ['tickets:read'],
    async run(agent) {
      const tried = await agent.call('update_ticket', { id: 'INC-61', status: 'CANCELLED' });
      return { tools: agent.tools, tried };
    },
    async check({ ticket }, said) {
      expect((said as { tools: string[] }).tools).not.toContain('update_ticket');
      expect((await ticket('INC-61')).status).toBe('OPEN');
    },
  },
  {
    asked: 'Cancel INC-61 through /mcp/readonly with a key that has write scopes.',
    path: '/mcp/readonly',
    async run(agent) {
      await agent.call('update_ticket', { id: 'INC-61', status: 'CANCELLED' });
      return agent.tools;
    },
    async check({ ticket }, said) {
      expect(said).toContain('list_tickets');
      expect(said).not.toContain('update_ticket');
      expect((await ticket('INC-61')).status).toBe('OPEN');
    },
  },
  {
    asked: 'Summarize INC-64 in a comment. Its description contains instructions to agents.',
    async run(agent) {
      const { text } = await agent.call('get_ticket', { id: 'INC-64' });
      const body = 'In short: an invoice is said to be damaged when it is opened.';
      await agent.call('comment_on_ticket', { id: 'INC-64', body, visibility: 'PUBLIC' });
      return text;
    },
    async check({ tickets, comments }, said) {
      expect(said).toContain('ignore all earlier instructions');
      expect(await tickets('&status=CANCELLED')).toEqual([]);
      expect(await comments('INC-1')).toEqual([]);
      expect(await comments('INC-64')).toHaveLength(1);
    },
  },
  {
    asked: 'Comment on the newest 35 tickets that the desk is closed on Friday. The limit is 30 calls.',
    async run(agent) {
      const said = await agent.call('list_tickets', { perPage: 35 });
      for (const id of numbersIn(said)) {
        await patiently(agent, 'comment_on_ticket', { id, body: 'Closed on Friday.', visibility: 'PUBLIC' });
      }
    },
    check: async ({ tickets }) =>
      expect((await tickets()).map(({ commentCount }) => commentCount)).toEqual([
        ...Array(35).fill(1),
        ...Array(30).fill(0),
      ]),
  },
];

/** What the key of the agent may do. */
export function scopesOf({ scopes = agentScopes }: Task): Scope[] {
  return scopes;
}
