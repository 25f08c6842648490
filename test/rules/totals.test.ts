import { NewTicket, Priority, TicketCategory, TicketStatus, TicketType, ticketTransitions } from '@itsm-api/contract';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/counters-check.ts';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { execute } from '../support/database.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { createWorkspace, ticket } from '../support/workspace.ts';

let users: number[];

it.beforeAll(async () => {
  users = [workspace.userId, (await workspace.createUser()).id];
  await addOtherTenantTickets();
});

/**
 * Creates tickets of many kinds in another tenant. A query without a tenant filter would return and count these
 * tickets.
 */
async function addOtherTenantTickets(): Promise<void> {
  const other = await createWorkspace(api);
  for (const [i, type] of TicketType.options.entries()) {
    for (const [j, priority] of Priority.options.entries()) {
      const category = TicketCategory.options[i + j] ?? null;
      const { id } = await other.createTicket({
        type,
        priority,
        category,
        categoryConfigId: 'c',
        assigneeId: other.userId,
      });
      if (j % 2 === 0) await other.call('PATCH', `/tickets/${id}`, { status: 'RESOLVED' });
    }
  }
}

const { type, priority, category } = NewTicket.shape;
const kinds = {
  type: fc.constantFrom(...type.options),
  priority: fc.constantFrom(...priority.unwrap().unwrap().options),
  category: fc.constantFrom(...category.unwrap().unwrap().options, null),
  assignee: fc.constantFrom(0, 1, null),
};

/** Generates a request that creates a ticket or updates an existing ticket. */
const write = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), ...kinds }),
  fc.record({
    kind: fc.constant('update' as const),
    which: fc.nat(),
    priority: kinds.priority,
    category: kinds.category,
    assignee: kinds.assignee,
    move: fc.nat(),
  }),
);

async function apply(command: typeof write extends fc.Arbitrary<infer Command> ? Command : never, ids: number[]) {
  const assigneeId = command.assignee === null ? null : users[command.assignee];
  const { priority, category } = command;
  if (command.kind === 'create') {
    const body = { ...ticket, type: command.type, priority, category, categoryConfigId: 'c', assigneeId };
    const answer = await workspace.call('POST', '/tickets', body);
    ids.push(answer.body.data.id);
    return answer.status;
  }
  const id = ids[command.which % ids.length];
  if (id === undefined) return 200;
  const { body } = await workspace.call('GET', `/tickets/${id}`);
  const moves = ticketTransitions[TicketStatus.parse(body.data.status)];
  const status = moves[command.move % moves.length];
  const answer = await workspace.call('PATCH', `/tickets/${id}`, {
    ...{ priority, category, categoryConfigId: 'c', assigneeId },
    ...(status && { status }),
  });
  // Accepts 400, because a concurrent status change can make the requested status change invalid.
  return answer.status === 400 ? 200 : answer.status;
}

describe('totalCount', () => {
  it('keeps the ticket totals correct during concurrent writes', async () => {
    const ids: number[] = [];
    const bursts = fc.array(write, { minLength: 4, maxLength: 16 });
    await fc.assert(
      fc.asyncProperty(bursts, async (commands) => {
        const statuses = await Promise.all(commands.map((command) => apply(command, ids)));
        expect(statuses.every((status) => status < 300)).toBe(true);
        const tenantWrong = (await findWrongTotals(api.databases.options)).filter(
          ({ tenantId }) => tenantId === workspace.tenantId,
        );
        expect(tenantWrong).toEqual([]);
      }),
      { numRuns: 25, endOnFailure: true },
    );
    expect(ids.length).toBeGreaterThan(50);
  });

  it('returns the correct totalCount and page for every combination of ticket filters', async () => {
    await addOtherTenantTickets();
    const all = await api.prisma.ticket.findMany({ where: { tenantId: workspace.tenantId }, orderBy: { id: 'desc' } });
    const values = {
      status: ['OPEN', 'RESOLVED,CLOSED', undefined],
      priority: ['LOW', 'HIGH,CRITICAL', undefined],
      type: ['INCIDENT', 'CHANGE,PROBLEM', undefined],
      category: ['EMAIL', 'OTHER,ACCESS', undefined],
      assigneeId: [String(users[0]), users.join(','), undefined],
    };
    const combination = fc.record({
      ...(Object.fromEntries(
        Object.entries(values).map(([name, choices]) => [name, fc.constantFrom(...choices)]),
      ) as Record<keyof typeof values, fc.Arbitrary<string | undefined>>),
      page: fc.integer({ min: 1, max: 6 }),
      perPage: fc.constantFrom(1, 3, 7, 100),
    });
    const pages = [
      { page: 1, perPage: 100 },
      { page: 1, perPage: 2 },
      { page: 2, perPage: 2 },
      { page: 3, perPage: 7 },
    ];
    const examples = combineChoices(values).flatMap((filters) => pages.map((page) => ({ ...filters, ...page })));
    await fc.assert(
      fc.asyncProperty(combination, async ({ page, perPage, ...filters }) => {
        const given = Object.entries(filters).filter(([, value]) => value !== undefined) as [
          keyof typeof values,
          string,
        ][];
        const matching = all.filter((row) =>
          given.every(([name, value]) => value.split(',').includes(String(row[name]))),
        );
        const query = new URLSearchParams([...given, ['page', String(page)], ['perPage', String(perPage)]]);
        const { body } = await workspace.call('GET', `/tickets?${query}`);
        expect(body.meta).toEqual({ page, perPage, totalCount: matching.length });
        expect(body.data.map(({ id }: { id: number }) => id)).toEqual(
          matching.slice((page - 1) * perPage, page * perPage).map(({ id }) => Number(id)),
        );
      }),
      { examples: examples.map((example) => [example]), numRuns: examples.length + 300 },
    );
  });
});

describe('writes that would make the totals wrong', () => {
  it.each([
    ['a DELETE of tickets', 'DELETE FROM tickets'],
    ['a TRUNCATE of tickets', 'TRUNCATE tickets CASCADE'],
    ['a TRUNCATE of users', 'TRUNCATE users CASCADE'],
  ])('rejects %s in the database, because it would make the ticket totals wrong', async (_, sql) => {
    const count = await api.prisma.ticket.count();
    await expect(execute(api.databaseUrl, sql)).rejects.toThrow('Tickets are never deleted');
    expect(await api.prisma.ticket.count()).toBe(count);
  });

  it('keeps the ticket totals correct when the tenant id changes', async () => {
    const moved = await createWorkspace(api);
    await moved.createTicket({ assigneeId: moved.userId });
    const id = moved.tenantId + 1_000_000n;
    await execute(api.databaseUrl, `UPDATE tenants SET id = ${id} WHERE id = ${moved.tenantId}`);
    const wrong = await findWrongTotals(api.databases.options);
    expect(wrong.filter(({ tenantId }) => [id, moved.tenantId].includes(tenantId))).toEqual([]);
  });

  it.each(['type', 'status', 'priority', 'category', 'approval_status'])(
    'rejects an unknown ticket %s in the database',
    async (column) => {
      const refused = execute(
        api.databaseUrl,
        `UPDATE tickets SET ${column} = 'open' WHERE tenant_id = ${workspace.tenantId}`,
      );
      await expect(refused).rejects.toThrow('tickets_values_check');
    },
  );
});

/** Returns all combinations of the choices. Each combination contains one choice for each name. */
function combineChoices<Name extends string, Choice>(choices: Record<Name, Choice[]>): Record<Name, Choice>[] {
  const names = Object.keys(choices) as Name[];
  return names.reduce<Record<Name, Choice>[]>(
    (chosen, name) => chosen.flatMap((each) => choices[name].map((choice) => ({ ...each, [name]: choice }))),
    [{} as Record<Name, Choice>],
  );
}

describe('the check of totals', () => {
  it('detects a wrong ticket total, comment count, link count or attachment count', async () => {
    const other = await createWorkspace(api);
    const { id } = await other.createTicket();
    const { tenantId } = other;
    const wrong = async () =>
      (await findWrongTotals(api.databases.options)).filter((each) => each.tenantId === tenantId);
    expect(await wrong()).toEqual([]);
    await api.prisma.ticketCount.updateMany({ where: { tenantId }, data: { count: 2 } });
    expect(await wrong()).toEqual([{ tenantId, what: 'tickets OPEN MEDIUM INCIDENT NETWORK', kept: 2, counted: 1 }]);
    await api.prisma.ticketCount.updateMany({ where: { tenantId }, data: { count: 1 } });
    await api.prisma.ticketSequence.update({ where: { tenantId }, data: { total: 2 } });
    expect(await wrong()).toMatchObject([{ what: 'ordinals of tickets', kept: 2, counted: 1 }]);
    await api.prisma.ticketSequence.update({ where: { tenantId }, data: { total: 1 } });
    await other.createComment(id);
    expect(await wrong()).toEqual([]);
    await api.prisma.ticket.updateMany({ where: { tenantId }, data: { commentCount: 0 } });
    expect(await wrong()).toEqual([{ tenantId, what: `comments of ticket ${id}`, kept: 0, counted: 1 }]);
    await api.prisma.ticket.updateMany({ where: { tenantId }, data: { commentCount: 1 } });
    await other.createLink(id);
    expect(await wrong()).toEqual([]);
    await api.prisma.ticket.update({ where: { tenantId_id: { tenantId, id } }, data: { linkCount: 0 } });
    expect(await wrong()).toEqual([{ tenantId, what: `links of ticket ${id}`, kept: 0, counted: 1 }]);
    await api.prisma.ticket.update({ where: { tenantId_id: { tenantId, id } }, data: { linkCount: 1 } });
    const { size } = await other.createAttachment(id);
    expect(await wrong()).toEqual([]);
    await api.prisma.ticket.update({ where: { tenantId_id: { tenantId, id } }, data: { attachmentCount: 0 } });
    await api.prisma.attachmentUsage.update({ where: { tenantId }, data: { bytes: 0n } });
    expect(await wrong()).toEqual([
      { tenantId, what: `attachments of ticket ${id}`, kept: 0, counted: 1 },
      { tenantId, what: 'bytes of attachments', kept: 0, counted: size },
    ]);
  });
});
