import { type Endpoint, placesIn, resourceKindOf } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, describe, expect } from 'vitest';
import * as z from 'zod';
import { startApi } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { callTool, connectMcp } from '../support/mcp-client.ts';
import { createWorkspace } from '../support/workspace.ts';

/* Tests the arguments that tools accept in addition to those of their endpoints: names, dates and ETags. */
let origin: string;
let client: Client;
const clients: Client[] = [];

async function connect(key: string): Promise<Client> {
  const connected = await connectMcp(origin, { key });
  clients.push(connected);
  return connected;
}

it.beforeAll(async () => {
  origin = await api.app.listen({ port: 0, host: '127.0.0.1' });
  client = await connect(workspace.key);
});
afterAll(async () => {
  await Promise.all(clients.map((each) => each.close()));
});

const ticket = { title: 'VPN drops', description: 'Since today.', type: 'INCIDENT' };

/** Parses the rows between the delimiters of a result. */
const rowsIn = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): Record<string, unknown> => JSON.parse(line));

describe('names in MCP arguments', () => {
  it('declares one kind of resource for each field with the id of a user, ticket, team, project or asset', () => {
    const places = Object.values(contract)
      .flatMap((routes) => Object.values(routes as Record<string, Endpoint>))
      .flatMap(({ responses }) => Object.values(responses))
      .flatMap((schema) =>
        placesIn(schema, (each) => resourceKindOf(each) ?? (each instanceof z.ZodNumber ? 'number' : undefined)),
      );
    const kinds = new Map<string, Set<string>>();
    for (const { kind, path } of places) {
      const name = path.findLast((part) => !/^(\*|from|to)$/.test(part)) ?? '';
      kinds.set(name, (kinds.get(name) ?? new Set()).add(kind));
    }
    expect([...kinds].filter(([, { size }]) => size > 1)).toEqual([]);
    const undeclared = [...kinds].filter(([name, kind]) => /Ids?$/.test(name) && kind.has('number'));
    expect(undeclared.map(([name]) => name).sort()).toEqual(['attachmentIds', 'createdId', 'keyId', 'webhookId']);
  });

  it('accepts the names of a user, a team, a category and an asset in the arguments of a ticket', async () => {
    const here = await createWorkspace(api);
    const agent = await connect(here.key);
    const user = await here.createUser({ name: 'Jonas Weber' });
    await here.createUser({ name: 'Jonas Wagner' });
    const team = await here.createTeam({ name: 'Netzwerk Süd' });
    await here.createTicketCategory({ id: 'net/vpn', name: 'Remote access' });
    const asset = await here.createAsset({ name: 'Gateway', assetTag: 'GW-1' });
    await here.createAsset({ name: 'Gateway 2', assetTag: 'GW-10' });
    const made = await callTool(agent, 'create_ticket', {
      ...ticket,
      assigneeId: 'jonas weber',
      watcherUserIds: ['Jonas Weber', here.userId],
      teamId: 'NETZWERK SÜD',
      categoryConfigId: 'Remote access',
      assetIds: ['GW-1'],
      tags: ['vpn'],
    });
    expect(made.text).toContain(`"teamId": "${team.id} Netzwerk Süd"`);
    expect(made.text).toContain('"tags": ["vpn"]');
    const { data } = (await here.call('GET', '/tickets/INC-1')).body;
    expect(data).toMatchObject({
      ...{ assigneeId: user.id, teamId: team.id, categoryConfigId: 'net/vpn', assetIds: [asset.id] },
      watcherUserIds: [here.userId, user.id].sort((a, b) => a - b),
    });
    const filters = [
      { teamId: ['Netzwerk Süd'], assigneeId: ['Jonas Weber', 'none'] },
      { teamId: 'Netzwerk Süd', categoryConfigId: 'Remote access', assetId: ['Gateway'] },
      { teamId: [String(team.id)], watcherUserId: 'Jonas Weber' },
      { assigneeId: `${user.id},none`, categoryConfigId: ['net/vpn'] },
    ];
    for (const filter of filters) {
      const { text } = await callTool(agent, 'list_tickets', filter);
      expect(text).toMatch(/^totalCount 1;/);
      expect(text).toContain(`"${team.id} Netzwerk Süd",["vpn"]`);
    }
    const many = await callTool(agent, 'update_tickets', {
      tickets: [{ id: 'INC-1', teamId: null, assigneeId: 'Jonas Wagner' }],
    });
    expect(many.text).toMatch(/^1 succeeded/);
    expect((await here.call('GET', '/tickets/INC-1')).body.data).toMatchObject({ teamId: null });
  });

  it('accepts the key and the name of a project, and the tag and the name of an asset, instead of the id', async () => {
    const project = await workspace.createProject({ key: 'MOVE', name: 'Move to the new office' });
    await workspace.createTask({ title: 'Order cables' }, project);
    const user = await workspace.createUser({ name: 'Lena Vogt' });
    for (const id of [project.id, String(project.id), 'MOVE', 'move to the new office']) {
      expect((await callTool(client, 'list_tasks', { id })).text).toContain('"Order cables"');
    }
    await workspace.createAsset({ name: 'Printer 3', assetTag: 'PR-3', type: 'PRINTER' });
    await callTool(client, 'update_asset', { id: 'Printer 3', assignedToId: 'Lena Vogt' });
    expect((await callTool(client, 'get_asset', { id: 'PR-3' })).text).toContain(
      `"assignedToId": "${user.id} Lena Vogt"`,
    );
  });

  it('returns the users with a name that is not unique, and changes nothing', async () => {
    const first = await workspace.createUser({ name: 'Sam Ode' });
    const second = await workspace.createUser({ name: 'Sam Ode', role: 'REQUESTER' });
    const { ticketNumber: id } = await workspace.createTicket();
    const { text, isError } = await callTool(client, 'update_ticket', { id, assigneeId: 'Sam Ode', title: 'Changed' });
    expect(isError).toBe(true);
    expect(text).toMatch(/^INVALID_REFERENCE: assigneeId matches more than one user\. Send the id of one of them\.\n/);
    expect(rowsIn(text)).toEqual(
      [second, first].map(({ id, name, email, role }) => ({ kind: 'user', id, name, email, role, active: true })),
    );
    expect((await workspace.call('GET', `/tickets/${id}`)).body.data).toMatchObject({
      title: 'VPN drops',
      assigneeId: null,
    });
    expect((await callTool(client, 'update_ticket', { id, assigneeId: rowsIn(text)[0]?.email })).isError).toBe(false);
  });

  it('reports all unknown names of a call with similar resources', async () => {
    const { id } = await workspace.createUser({ name: 'Quirin Hall' });
    const { text, isError } = await callTool(client, 'create_ticket', {
      ...{ ...ticket, category: 'NETWORK' },
      ...{ assigneeId: 'Quirin', teamId: 'No such team', assetIds: ['No such asset'] },
    });
    expect(isError).toBe(true);
    expect(text.split('\n').slice(0, 4)).toEqual([
      expect.stringMatching(/^INVALID_REFERENCE: .* \(and 2 more errors\)$/),
      '- assigneeId matches no user. Find the user with search_names, then send its id.',
      '- teamId matches no team. Find the team with search_names, then send its id.',
      '- assetIds matches no asset. Find the asset with list_assets, then send its id.',
    ]);
    expect(rowsIn(text)).toMatchObject([{ kind: 'user', id, name: 'Quirin Hall' }]);
    expect((await callTool(client, 'list_tickets', { teamId: 'Nobody' })).text).toContain('teamId matches no team');
    const names = Array.from({ length: 21 }, (_, number) => `Name ${number}`);
    const tooMany = await callTool(client, 'update_ticket', { id: 'INC-1', watcherUserIds: names });
    expect(tooMany.text).toBe('VALIDATION_ERROR: The call contains more than 20 different names. Send ids instead.');
    for (const teamId of ['\u0000', '%', ' ', 'x'.repeat(300), '_']) {
      const broken = await callTool(client, 'list_tickets', { teamId });
      expect(broken.text).toMatch(/^INVALID_REFERENCE: teamId matches no team/);
    }
  });

  it('requires the id if more than 100 resources contain the words of a name', async () => {
    const here = await createWorkspace(api);
    const agent = await connect(here.key);
    const items = Array.from({ length: 101 }, (_, number) => ({
      ...{ externalId: `${number}`, name: `Printer ${number}`, assetTag: `PR-${number}`, type: 'PRINTER' },
    }));
    for (const assets of [items.slice(1), items.slice(0, 1)]) await here.call('POST', '/assets/upsert', { assets });
    const common = await callTool(agent, 'get_asset', { id: 'Printer' });
    expect(common.text).toMatch(/^INVALID_REFERENCE: id is too common to identify the asset\. Send its id\.\n/);
    expect(rowsIn(common.text)).toHaveLength(10);
    expect((await callTool(agent, 'get_asset', { id: 'Printer 7' })).text).toContain('"PR-7"');
  });

  it('passes a text that names no category to the endpoint', async () => {
    const here = await createWorkspace(api);
    const agent = await connect(here.key);
    const free = await callTool(agent, 'create_ticket', { ...ticket, categoryConfigId: 'any text' });
    expect(free.isError).toBe(false);
    await here.createTicketCategory({ id: 'a', name: 'Printers' });
    await here.createTicketCategory({ id: 'b', name: 'Printers' });
    const unknown = await callTool(agent, 'create_ticket', { ...ticket, categoryConfigId: 'any text' });
    expect(unknown.text).toMatch(/^INVALID_REFERENCE: categoryConfigId/);
    const ambiguous = await callTool(agent, 'create_ticket', { ...ticket, categoryConfigId: 'printers' });
    expect(ambiguous.text).toContain('categoryConfigId matches more than one category. Send the id of one of them.');
    expect((await callTool(agent, 'create_ticket', { ...ticket, categoryConfigId: 'B' })).isError).toBe(false);
  });

  it('finds no names of another workspace, and none without the scope that lists the resources', async () => {
    await workspace.createTeam({ name: 'Hidden team' });
    await workspace.createUser({ name: 'Hidden User' });
    const other = await createWorkspace(api);
    const stranger = await connect(other.key);
    for (const args of [{ teamId: 'Hidden team' }, { assigneeId: 'Hidden User' }]) {
      const { text } = await callTool(stranger, 'list_tickets', args);
      expect(text).toMatch(/^INVALID_REFERENCE: \w+ matches no (team|user)\. [^\n]+$/);
    }
    expect((await callTool(stranger, 'search_names', { q: 'hidden' })).text).toBe('Nothing found.');
    const blind = await connect(await workspace.createKey({ scopes: ['tickets:read', 'tickets:write'] }));
    for (const teamId of ['Hidden team', 'No such team']) {
      expect((await callTool(blind, 'list_tickets', { teamId })).text).toBe(
        "INSUFFICIENT_SCOPE: This API key lacks the scope users:read, so it can't use the name of a resource of the kind " +
          'team. Send the id, or use a key that has the scope.',
      );
    }
    expect((await callTool(blind, 'search_names', { kind: 'team' })).isError).toBe(true);
    expect((await callTool(blind, 'search_names', { q: 'hidden' })).text).toBe('Nothing found.');
    const writer = await connect(await workspace.createKey({ scopes: ['tickets:write'] }));
    const made = await callTool(writer, 'create_ticket', { ...ticket, categoryConfigId: 'any text' });
    expect(made.isError).toBe(false);
  });

  it('counts a call with names against the rate limits before it looks them up', async () => {
    const tight = await startApi({ env: { RATE_LIMIT_GLOBAL: '5', RATE_LIMIT_GROUP: '5' } });
    try {
      const { key } = await createWorkspace(tight);
      const call = (args: unknown) =>
        tight.call({
          method: 'POST',
          path: '/mcp',
          key,
          body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_tickets', arguments: args } },
        });
      const left = (response: { headers: Record<string, string> }) =>
        response.headers.ratelimit?.replace(/;t=\d+/g, '');
      expect(left(await call({ assigneeId: ['none'], categoryConfigId: ['vpn'] }))).toBe('"global";r=4, "tickets";r=4');
      expect(left(await call({ teamId: ['No team'], assigneeId: ['Nobody'] }))).toBe('"global";r=3, "mcp";r=4');
      for (let count = 0; count < 3; count++) await call({ teamId: ['No team'] });
      const rejected = await call({ teamId: ['No team'] });
      expect(rejected.body.result.content[0].text).toMatch(/^RATE_LIMIT_EXCEEDED: /);
    } finally {
      await tight.close();
    }
  });
});

describe('the MCP tool search_names', () => {
  it('finds users, teams, categories and projects by a part of their names', async () => {
    const here = await createWorkspace(api);
    const agent = await connect(here.key);
    const user = await here.createUser({ name: 'Nora Network' });
    const team = await here.createTeam({ name: 'Wide Network', description: 'Cables.' });
    await here.createTicketCategory({ id: 'net', name: 'Network' });
    const project = await here.createProject({ key: 'NET', name: 'New network' });
    const { text } = await callTool(agent, 'search_names', { q: 'netw' });
    expect(rowsIn(text)).toEqual([
      { kind: 'user', id: user.id, name: 'Nora Network', email: user.email, role: 'AGENT', active: true },
      { kind: 'team', id: team.id, name: 'Wide Network', description: 'Cables.', active: true },
      { kind: 'category', id: 'net', name: 'Network', parentId: null, category: null, active: true },
      { kind: 'project', id: project.id, key: 'NET', name: 'New network', status: 'PLANNED' },
    ]);
    // The limit of a text in the result is in the middle of the emoji.
    const description = `${'x'.repeat(254)}😀${'x'.repeat(700)}`;
    for (let number = 1; number <= 70; number++) await here.createTeam({ name: `Shift ${number}`, description });
    const some = await callTool(agent, 'search_names', { q: 'shift' });
    expect(rowsIn(some.text)).toHaveLength(20);
    expect(rowsIn(some.text)[0]).toMatchObject({ description: `${'x'.repeat(254)}\ufffd…` });
    expect(some.text).toMatch(/^Shows 20 of kind team\. To find others, set kind and more words in q\.\n/);
    const teams = await callTool(agent, 'search_names', { kind: 'team' });
    expect(teams.text).toMatch(/^Shows \d+ of 71 rows\.\n/);
    expect(Buffer.byteLength(teams.text)).toBeLessThan(20_000);
    expect((await callTool(agent, 'search_names', { kind: 'planet' })).text).toMatch(/^VALIDATION_ERROR: kind/);
  });

  it('returns a name with line separators on one line', async () => {
    const name = 'Marked\u2028{}\u2029{}';
    const { id } = await workspace.createTeam({ name });
    const { text } = await callTool(client, 'search_names', { q: 'marked' });
    expect(text).not.toMatch(/[\u2028\u2029]/);
    expect(rowsIn(text)).toMatchObject([{ id, name }]);
  });
});

describe('other MCP arguments', () => {
  it('converts a date without a time to 00:00 UTC', async () => {
    const { ticketNumber: id } = await workspace.createTicket();
    await callTool(client, 'update_ticket', { id, dueAt: '2030-01-31' });
    const read = async () => (await workspace.call('GET', `/tickets/${id}`)).body.data;
    expect((await read()).dueAt).toBe('2030-01-31T00:00:00.000Z');
    await callTool(client, 'update_tickets', { tickets: [{ id, dueAt: '2030-02-01' }] });
    expect((await read()).dueAt).toBe('2030-02-01T00:00:00.000Z');
    const made = await callTool(client, 'create_ticket', { ...ticket, category: 'NETWORK', dueAt: '2030-02-02' });
    expect(made.isError).toBe(false);
    const asset = await workspace.createAsset();
    await callTool(client, 'update_asset', { id: asset.id, warrantyExpiresAt: '2031-05-01' });
    expect((await workspace.call('GET', `/assets/${asset.id}`)).body.data.warrantyExpiresAt).toBe(
      '2031-05-01T00:00:00.000Z',
    );
    const today = new Date().toISOString().slice(0, 10);
    expect((await callTool(client, 'list_tickets', { createdSince: today })).text).toMatch(/^totalCount [1-9]/);
    expect((await callTool(client, 'list_tickets', { createdBefore: '2020-01-01' })).text).toMatch(/^totalCount 0/);
    expect((await callTool(client, 'update_ticket', { id, dueAt: '2030-02-31' })).text).toMatch(
      /^VALIDATION_ERROR: dueAt/,
    );
  });

  it('requests, lists and decides approvals, each decision with the tag of the approval', async () => {
    const here = await createWorkspace(api);
    const requester = await connect(here.key);
    const approver = await here.createUser({ name: 'Ada Approver' });
    const { key } = await createKey(here.context, {
      user: approver.email,
      name: 'agent',
      scopes: ['tickets:read', 'tickets:write'],
    });
    const deciding = await connect(key);
    const { ticketNumber: id } = await here.createTicket({ type: 'CHANGE', title: 'Upgrade the router' });
    const asked = await callTool(requester, 'request_approval', { id, approverId: 'Ada Approver', note: 'Please.' });
    expect(asked.text).toContain(`"approverId": "${approver.id} Ada Approver"`);
    const listed = await callTool(deciding, 'search_approvals', { approverId: ['me'], decision: ['PENDING'] });
    const line = listed.text.split('\n').filter((each) => each.startsWith('['));
    const [columns, row] = line.map((each) => JSON.parse(each)) as [string[], unknown[]];
    const approval = Object.fromEntries(columns.map((name, at) => [name, row[at]]));
    expect(approval).toMatchObject({
      ticketId: expect.stringMatching(` ${id}$`),
      decision: 'PENDING',
      note: 'Please.',
    });
    const decision = { id: approval.id, decision: 'APPROVED' };
    expect((await callTool(deciding, 'decide_approval', decision)).text).toBe(
      'VALIDATION_ERROR: ifMatch is required: the etag that you read',
    );
    expect((await callTool(deciding, 'decide_approval', { ...decision, ifMatch: 'a\r\nb: c' })).isError).toBe(true);
    await here.call('PATCH', `/tickets/${id}`, { title: 'Upgrade all routers' });
    const stale = await callTool(deciding, 'decide_approval', { ...decision, ifMatch: approval.etag });
    expect(stale.text).toMatch(/^PRECONDITION_FAILED: /);
    const again = await callTool(deciding, 'list_approvals', { id });
    const etag = /"(\\".*?\\")"/.exec(again.text)?.[1]?.replaceAll('\\"', '"');
    const decided = await callTool(deciding, 'decide_approval', { ...decision, ifMatch: etag });
    expect(decided.text).toContain('"decision": "APPROVED"');
    expect((await here.call('GET', `/tickets/${id}`)).body.data.approvalStatus).toBe('APPROVED');
  });
});
