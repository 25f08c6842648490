import { setChangePolicy } from '@itsm-api/server/resources/tickets/change-policy.ts';
import { describe, expect } from 'vitest';
import { startApi } from '../support/api.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';
import { signIn, upload, type Visitor } from '../support/visitor.ts';
import { createWorkspace } from '../support/workspace.ts';

let agent: Visitor;
let agentId: number;

const it = itBase.extend('options', { scope: 'file' }, { env: { ATTACHMENTS_MAX_BYTES: '1000' } });
it.beforeAll(async () => {
  agentId = (await workspace.createUser({ name: 'Agent' })).id;
  agent = await signIn(api, { tenantId: workspace.tenantId, userId: agentId });
});

describe('/developer/tickets', () => {
  it('lists the newest tickets first, with links to their pages and the names of assignees', async () => {
    const [first, second] = [await workspace.createTicket({ assigneeId: agentId }), await workspace.createTicket()];
    const { text } = await agent.get('/developer/tickets');
    const cells = (id: number) => new RegExp(`href="/developer/tickets/${id}">[\\s\\S]*?</tr>`).exec(text)?.[0];
    expect(cells(first.id)).toContain('>Agent<');
    expect(cells(second.id)).toContain('>Unassigned<');
    expect(text.indexOf(second.ticketNumber)).toBeLessThan(text.indexOf(first.ticketNumber));
  });

  it('finds tickets by number, text and filters', async () => {
    const teamId = (await workspace.createTeam({ name: 'Network <b>team' })).id;
    const fields = { title: 'Printer <jam>', priority: 'CRITICAL', teamId, assigneeId: agentId } as const;
    const found = await workspace.createTicket(fields);
    await workspace.createTicket({ title: 'Other' });
    for (const query of [
      `q=${found.ticketNumber}`,
      'q=jam&status=&priority=&type=&assigneeId=&teamId=',
      'priority=CRITICAL&assigneeId=me',
      `teamId=${teamId}&status=OPEN&type=INCIDENT`,
    ]) {
      const { text } = await agent.get(`/developer/tickets?${query}`);
      expect(text, query).toContain('Printer &lt;jam&gt;');
      expect(text, query).toContain('1 in total');
    }
    const none = await agent.get('/developer/tickets?teamId=none&priority=CRITICAL');
    expect(none.text).toContain('No tickets match your search. <a href="/developer/tickets">Show all tickets</a>');
    expect(none.text).toContain('Network &lt;b&gt;team</option>');
  });
});

describe('/developer/tickets/:id', () => {
  it('shows a ticket page with comments and activity for a ticket ID or a ticket number', async () => {
    const watcher = await workspace.createUser({ name: 'Wanda <b>Watcher</b>' });
    const assetIds = [(await workspace.createAsset({ assetTag: 'LT-1', name: 'Laptop <b>one</b>' })).id];
    const { id, ticketNumber } = await workspace.createTicket({
      assetIds,
      ...{ title: '<script>alert(1)</script>', watcherUserIds: [watcher.id], customFields: { '<i>site': ['a', 1] } },
    });
    await workspace.createComment(id, { body: 'For ourselves <script>', visibility: 'INTERNAL' });
    await workspace.call('PATCH', `/tickets/${id}`, { status: 'IN_PROGRESS' });

    const { status, text } = await agent.get(`/developer/tickets/${id}`);
    expect(status).toBe(200);
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(text).toContain('For ourselves &lt;script&gt;');
    expect(text).toContain('Wanda &lt;b&gt;Watcher&lt;/b&gt;');
    expect(text).toContain('LT-1 Laptop &lt;b&gt;one&lt;/b&gt;');
    expect(text).toContain('<code>status</code> from OPEN to IN_PROGRESS');
    expect(text).not.toMatch(/<script>alert|<i>site|<b>W/);
    expect((await agent.get(`/developer/tickets/${ticketNumber}`)).text).toContain('For ourselves');
  });

  it('shows the labels of defined custom fields and of their options', async () => {
    await workspace.createField({
      ...{ key: 'affectedSites', label: 'Affected <sites>', type: 'MULTI_SELECT' },
      options: [
        { value: 'b', label: 'Berlin' },
        { value: 'l', label: 'Leipzig' },
      ],
    });
    const { id } = await workspace.createTicket({ customFields: { affectedSites: ['b', 'l'], other: ['x', 1] } });
    const { text } = await agent.get(`/developer/tickets/${id}`);
    expect(text).toContain('<dt>Affected &lt;sites&gt;</dt><dd>Berlin, Leipzig</dd>');
    expect(text).toContain('<dt>other</dt><dd>x, 1</dd>');
  });

  it('lets an administrator redact a ticket, comments and attachments', async () => {
    const admin = await signIn(api, workspace);
    const { id, ticketNumber } = await workspace.createTicket();
    const path = `/developer/tickets/${id}`;
    const [first, second] = [await workspace.createComment(id), await workspace.createComment(id)];
    const attached = await workspace.createAttachment(id);
    expect((await agent.get(path)).text).not.toContain('form-redact');
    expect((await agent.submit(path, 'redact', { confirmation: ticketNumber })).status).toBe(403);
    for (const [fields, message] of [
      [{ texts: 'ticket', confirmation: 'INC' }, `must be the number of the ticket: ${ticketNumber}`],
      [{ attachments: attached.id, confirmation: ticketNumber }, 'must be selected, unless you select a comment'],
    ] as const) {
      const { status, text } = await admin.submit(path, 'redact', fields);
      expect([status, text.includes(message)]).toEqual([400, true]);
    }
    const fields = { comments: first.id, attachments: attached.id, confirmation: ticketNumber };
    await admin.submitAndFollow(path, 'redact', fields);
    const { data } = (await workspace.call('GET', `/tickets/${id}/comments`)).body;
    expect(data).toMatchObject([second, { id: first.id, body: '[redacted]' }]);
    const read = async () => (await workspace.call('GET', `/tickets/${id}`)).body.data;
    expect(await read()).toMatchObject({ title: 'VPN drops', redactedAt: null, attachmentCount: 0 });
    await admin.submitAndFollow(path, 'redact', { texts: 'ticket', confirmation: ticketNumber.toLowerCase() });
    expect(await read()).toMatchObject({ title: '[redacted]', resolution: null });
  });

  it('lists, uploads and downloads the attachments of a ticket', async () => {
    const { id } = await workspace.createTicket();
    const path = `/developer/tickets/${id}`;
    expect((await agent.get(path)).text).toContain('No attachments yet.');
    const sent = await upload(agent, path, '<script>alert(1)</script>', { name: 'a <b>.html', form: 'attach' });
    expect(sent.status, sent.text).toBe(303);
    const { text } = await agent.get(sent.headers.location as string);
    expect(text).toContain('a &lt;b&gt;.html</a>');
    expect(text).toContain('25 B');
    const address = /\/developer\/attachments\/\d+\/content/.exec(text)?.[0] as string;
    const file = await agent.get(address);
    expect([file.status, file.text]).toEqual([200, '<script>alert(1)</script>']);
    expect(file.headers).toMatchObject({
      'content-disposition': expect.stringContaining('attachment; '),
      'content-security-policy': 'sandbox',
      'content-type': 'text/csv',
      'content-length': '25',
    });
    const [attached] = (await workspace.call('GET', `/tickets/${id}/attachments`)).body.data;
    expect(attached).toMatchObject({ name: 'a <b>.html', uploaderId: agentId });
    for (const [content, message] of [
      ['', 'must not be empty'],
      ['x'.repeat(2000), 'one file of at most 1000 bytes'],
    ] as const) {
      const rejected = await upload(agent, path, content, { name: 'a', form: 'attach' });
      expect([rejected.status, rejected.text.includes(message)], rejected.text).toEqual([400, true]);
    }
  });

  it('handles other requests of the workspace while the storage is slow, and rejects an upload after a sign-out', async () => {
    const own = await startApi({ env: { DATABASE_POOL_SIZE: '4' } });
    const mine = await createWorkspace(own);
    const admin = await signIn(own, mine);
    const { id } = await mine.createTicket();
    const { storage } = own.services;
    const writeTemporary = storage.writeTemporary.bind(storage);
    const [started, resume] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    storage.writeTemporary = async (content, size) => {
      started.resolve();
      await resume.promise;
      return writeTemporary(content, size);
    };
    const sent = upload(admin, `/developer/tickets/${id}`, 'The log.', { form: 'attach' });
    await started.promise;
    // With four connections, the workspace can run one request at a time.
    expect((await admin.get('/developer/account')).status).toBe(200);
    await own.prisma.session.updateMany({ where: { tenantId: mine.tenantId }, data: { endedAt: new Date() } });
    resume.resolve();
    const { status, headers } = await sent;
    expect([status, headers.location]).toEqual([303, expect.stringContaining('/developer/sign-in')]);
    expect((await mine.call('GET', `/tickets/${id}/attachments`)).body.data).toEqual([]);
    await own.close();
  });

  it('shows the due date of a ticket and whether it is overdue', async () => {
    const { id } = await workspace.createTicket({ dueAt: '2025-03-04T05:06:07.000Z' });
    const { text } = await agent.get(`/developer/tickets/${id}`);
    expect(text).toContain('2025-03-04T05:06:07.000Z');
    expect(text).toContain('overdue');
    await workspace.call('PATCH', `/tickets/${id}`, { status: 'RESOLVED' });
    expect((await agent.get(`/developer/tickets/${id}`)).text).not.toContain('overdue');
  });

  it('shows the planned window of a change', async () => {
    const window = { plannedStartAt: '2026-12-05T20:00:00.000Z', plannedEndAt: '2026-12-06T00:00:00.000Z' };
    const { id } = await workspace.createTicket({ type: 'CHANGE', ...window });
    const { text } = await agent.get(`/developer/tickets/${id}`);
    for (const time of Object.values(window)) expect(text).toContain(time);
  });

  it('lets only an administrator override the policy for changes', async () => {
    const admin = await signIn(api, workspace);
    const { id } = await workspace.createTicket({ type: 'CHANGE' });
    const path = `/developer/tickets/${id}`;
    expect((await admin.get(path)).text).not.toContain('form-override');
    await setChangePolicy(workspace.context, true);
    expect((await admin.get(path)).text).toContain('form-override');
    expect((await agent.get(path)).text).not.toContain('form-override');
    expect((await agent.submit(path, 'override', { status: 'IN_PROGRESS' })).status).toBe(403);
    await admin.submitAndFollow(path, 'override', { status: 'IN_PROGRESS' });
    expect((await workspace.call('GET', `/tickets/${id}`)).body.data.status).toBe('IN_PROGRESS');
    expect((await admin.get(path)).text).not.toContain('form-override');
    const entry = await api.prisma.auditEntry.findFirst({ orderBy: { id: 'desc' } });
    expect(entry).toMatchObject({
      ...{ action: 'change.overridden', targetType: 'ticket', targetId: BigInt(id) },
      changes: { status: { from: 'OPEN', to: 'IN_PROGRESS' } },
    });
    await setChangePolicy(workspace.context, false);
  });

  it('truncates long texts on a ticket page and shows the full text on request', async () => {
    const long = (last: string) => `${'long '.repeat(6000)}${last}`;
    const { id } = await workspace.createTicket({ description: long('end of description') });
    const comment = await workspace.createComment(id, { body: long('end of comment') });
    for (let i = 0; i < 10; i++) await workspace.createComment(id, { body: `newer ${i}` });
    const path = `/developer/tickets/${id}`;
    const { text } = await agent.get(path);
    expect(text).not.toMatch(/end of (description|comment)/);
    expect(text).toContain('Comments (11)');
    expect((await agent.get(`${path}?whole=description`)).text).toContain('end of description');
    const older = await agent.get(`${path}?comments=2`);
    expect(older.text).toContain(`comments=2&amp;whole=${comment.id}`);
    expect((await agent.get(`${path}?comments=2&whole=${comment.id}`)).text).toContain('end of comment');
  });

  it('returns the same 404 page for tickets of other workspaces and unknown tickets', async () => {
    const theirs = await createWorkspace(api);
    const { id } = await theirs.createTicket();
    const missing = await agent.get('/developer/tickets/999999999');
    expect(missing.status).toBe(404);
    for (const reference of [id, 'INC-999999', 'PRB-1']) {
      const { status, text } = await agent.get(`/developer/tickets/${reference}`);
      expect([status, text], String(reference)).toEqual([404, missing.text]);
    }
  });
});
