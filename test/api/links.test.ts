import type { Link, Ticket } from '@itsm-api/contract';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { createWorkspace } from '../support/workspace.ts';

const post = (id: number | string, body: object) => workspace.call('POST', `/tickets/${id}/links`, body);
const read = async (id: number): Promise<Ticket> => (await workspace.call('GET', `/tickets/${id}`)).body.data;
const list = async (id: number): Promise<Link[]> => (await workspace.call('GET', `/tickets/${id}/links`)).body.data;
const activity = async (id: number) => (await workspace.call('GET', `/tickets/${id}/activity`)).body.data;
const two = async () => [await workspace.createTicket(), await workspace.createTicket({ type: 'PROBLEM' })] as const;

/** Links a ticket to the given number of new tickets. */
async function fillLinks(id: number, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => workspace.createLink(id)));
}

describe('POST /tickets/{id}/links', () => {
  it('returns the new link, and lists it for both tickets', async () => {
    const [ticket, other] = await two();
    const { status, body, headers } = await post(ticket.id, { type: 'CAUSED_BY', ticketId: other.id });
    expect([status, headers.etag]).toEqual([201, undefined]);
    const link = {
      id: expect.any(Number),
      type: 'CAUSED_BY',
      direction: 'OUTGOING',
      ticketId: other.id,
      ticketNumber: other.ticketNumber,
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    };
    expect(body).toEqual({ success: true, data: link });
    expect(await list(ticket.id)).toEqual([body.data]);
    const { id: ticketId, ticketNumber } = ticket;
    expect(await list(other.id)).toEqual([{ ...body.data, direction: 'INCOMING', ticketId, ticketNumber }]);
  });

  it('accepts ticket numbers in the path and in the body', async () => {
    const [ticket, other] = await two();
    const { body } = await post(ticket.ticketNumber, { type: 'BLOCKS', ticketId: other.ticketNumber });
    expect(body.data).toMatchObject({ ticketId: other.id, ticketNumber: other.ticketNumber });
  });

  it('changes both tickets, and records the link in the activity of both', async () => {
    const [ticket, other] = await two();
    await post(ticket.id, { type: 'BLOCKS', ticketId: other.id });
    for (const [before, { ticketNumber }, direction] of [
      [ticket, other, 'OUTGOING'],
      [other, ticket, 'INCOMING'],
    ] as const) {
      const after = await read(before.id);
      expect(after).toEqual({ ...before, linkCount: 1, updatedAt: expect.any(String), etag: expect.any(String) });
      expect(after.updatedAt > before.updatedAt).toBe(true);
      expect(after.etag).not.toBe(before.etag);
      const [entry] = await activity(before.id);
      const to = { type: 'BLOCKS', direction, ticketNumber };
      expect(entry).toMatchObject({ action: 'UPDATED', actor: { userId: workspace.userId } });
      expect(entry.changes).toEqual({ linkCount: { from: 0, to: 1 }, links: { from: null, to } });
    }
  });

  it('rejects a link to the ticket itself', async () => {
    const { id, ticketNumber } = await workspace.createTicket();
    for (const ticketId of [id, ticketNumber]) {
      expect(errorOf(await post(id, { type: 'RELATES_TO', ticketId }))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: [{ path: 'ticketId', message: 'must be another ticket than the ticket in the path' }],
      });
    }
    expect((await read(id)).linkCount).toBe(0);
  });

  it('rejects a duplicate link, but accepts another type and the opposite direction', async () => {
    const [{ id }, other] = await two();
    const send = async (from: number, type: string, ticketId: number) => (await post(from, { type, ticketId })).status;
    expect(await send(id, 'BLOCKS', other.id)).toBe(201);
    expect(await send(id, 'BLOCKS', other.id)).toBe(400);
    expect(await send(other.id, 'BLOCKS', id)).toBe(201);
    expect(await send(id, 'RELATES_TO', other.id)).toBe(201);
    expect(await send(other.id, 'RELATES_TO', id)).toBe(400);
    expect(errorOf(await post(id, { type: 'BLOCKS', ticketId: other.id }))).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'ticketId', message: 'already has a link of this type' }],
    });
    expect([(await read(id)).linkCount, (await list(other.id)).length]).toEqual([3, 3]);
  });

  it('creates one of several identical links that are sent concurrently in both directions', async () => {
    const [a, b] = await two();
    const answers = await Promise.all(
      [a, b, a, b].map((from) => post(from.id, { type: 'RELATES_TO', ticketId: from === a ? b.id : a.id })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
    expect([(await read(a.id)).linkCount, (await read(b.id)).linkCount]).toEqual([1, 1]);
  });

  it('rejects the 51st link of either ticket, counting both directions', async () => {
    const [full, free] = await two();
    await fillLinks(full.id, 49);
    expect((await post(free.id, { type: 'BLOCKS', ticketId: full.id })).status).toBe(201);
    for (const [from, to] of [
      [full.id, free.id],
      [free.id, full.id],
    ] as const) {
      const { code, message } = errorOf(await post(from, { type: 'CAUSED_BY', ticketId: to }));
      expect([code, message]).toEqual(['VALIDATION_ERROR', expect.stringContaining('50 links')]);
    }
    const [link] = await list(full.id);
    await workspace.call('DELETE', `/tickets/${full.id}/links/${link?.id}`);
    expect((await post(full.id, { type: 'CAUSED_BY', ticketId: free.id })).status).toBe(201);
  });

  it.each([
    ['an unknown type', { type: 'PARENT_OF', ticketId: 1 }, 'type'],
    ['no ticket', { type: 'BLOCKS' }, 'ticketId'],
    ['a malformed ticket number', { type: 'BLOCKS', ticketId: 'INC-01' }, 'ticketId'],
    ['an unknown field', { type: 'BLOCKS', ticketId: 1, note: 'x' }, 'note'],
  ])('rejects a link with %s', async (_, body, path) => {
    const { id } = await workspace.createTicket();
    expect(errorOf(await post(id, body))).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
  });

  it('rejects a link to an unknown ticket', async () => {
    const { id } = await workspace.createTicket();
    for (const ticketId of [Number.MAX_SAFE_INTEGER, 'CHG-999999']) {
      const { code, details } = errorOf(await post(id, { type: 'BLOCKS', ticketId }));
      expect([code, details?.[0]?.path]).toEqual(['INVALID_REFERENCE', 'ticketId']);
    }
  });

  it('emits ticket.updated for both tickets of a new and a deleted link', async () => {
    const owner = await createWorkspace(api);
    await owner.createWebhook({ events: ['ticket.updated'] });
    const [a, b] = [await owner.createTicket(), await owner.createTicket()];
    const { id } = await owner.createLink(a.id, { type: 'DUPLICATES', ticketId: b.id });
    await owner.call('DELETE', `/tickets/${b.id}/links/${id}`);
    const events = await api.prisma.event.findMany({ where: { tenantId: owner.tenantId }, orderBy: { id: 'asc' } });
    const sent = events.map(({ body }) => JSON.parse(body ?? ''));
    const [ofA, ofB] = [a, b].map(({ ticketNumber }) => ({ type: 'DUPLICATES', ticketNumber }));
    const [out, incoming] = [
      { ...ofB, direction: 'OUTGOING' },
      { ...ofA, direction: 'INCOMING' },
    ];
    const count = (from: number, to: number) => ({ linkCount: { from, to } });
    expect(sent.map(({ ticket, changes }) => [ticket.id, ticket.linkCount, changes])).toEqual([
      [a.id, 1, { ...count(0, 1), links: { from: null, to: out } }],
      [b.id, 1, { ...count(0, 1), links: { from: null, to: incoming } }],
      [b.id, 0, { ...count(1, 0), links: { from: incoming, to: null } }],
      [a.id, 0, { ...count(1, 0), links: { from: out, to: null } }],
    ]);
  });

  it('lists both tickets of a new and a deleted link in the change feed', async () => {
    const owner = await createWorkspace(api);
    const [a, b] = [await owner.createTicket(), await owner.createTicket()];
    let query = '';
    // The feed waits for older transactions, so the changes can appear later.
    const changed = async () => {
      const found: [id: number, linkCount: number][] = [];
      const poll = async () => {
        const { data, meta } = (await owner.call('GET', `/tickets/changes${query}`)).body;
        query = `?cursor=${meta.nextCursor}`;
        found.push(...data.map(({ id, linkCount }: Ticket) => [id, linkCount]));
        return found.length;
      };
      await expect.poll(poll).toBe(2);
      return found;
    };
    expect(await changed()).toEqual([a, b].map((ticket) => [ticket.id, 0]));
    const { id } = await owner.createLink(a.id, { ticketId: b.id });
    expect(await changed()).toEqual([a, b].map((ticket) => [ticket.id, 1]));
    await owner.call('DELETE', `/tickets/${a.id}/links/${id}`);
    expect(await changed()).toEqual([a, b].map((ticket) => [ticket.id, 0]));
  });
});

describe('GET /tickets/{id}/links', () => {
  it('lists the links of both directions page by page, newest first', async () => {
    const [{ id }, other] = await two();
    const { id: first } = await workspace.createLink(id, { type: 'BLOCKS' });
    const { id: second } = await workspace.createLink(other.id, { type: 'CAUSED_BY', ticketId: id });
    const { id: third } = await workspace.createLink(id, { type: 'RELATES_TO' });
    expect((await list(id)).map((link) => [link.id, link.direction])).toEqual([
      [third, 'OUTGOING'],
      [second, 'INCOMING'],
      [first, 'OUTGOING'],
    ]);
    const { body } = await workspace.call('GET', `/tickets/${id}/links?page=2&perPage=2`);
    expect(body.data.map((link: Link) => link.id)).toEqual([first]);
    expect(body.meta).toEqual({ page: 2, perPage: 2, totalCount: 3 });
  });
});

describe('DELETE /tickets/{id}/links/{linkId}', () => {
  it('deletes a link with either ticket in the path, and returns it', async () => {
    const [ticket, other] = await two();
    for (const { id } of [ticket, other]) {
      await workspace.createLink(ticket.id, { type: 'BLOCKS', ticketId: other.id });
      const [link] = await list(id);
      const { status, body } = await workspace.call('DELETE', `/tickets/${id}/links/${link?.id}`);
      expect([status, body]).toEqual([200, { success: true, data: link }]);
      expect([await list(ticket.id), await list(other.id)]).toEqual([[], []]);
      expect([(await read(ticket.id)).linkCount, (await read(other.id)).linkCount]).toEqual([0, 0]);
      const from = { type: 'BLOCKS', direction: 'INCOMING', ticketNumber: ticket.ticketNumber };
      expect((await activity(other.id))[0].changes.links).toEqual({ from, to: null });
    }
  });

  it('returns 404 for a deleted link and for a link of other tickets', async () => {
    const { id } = await workspace.createTicket();
    const link = await workspace.createLink(id);
    const { id: unrelated } = await workspace.createTicket();
    const remove = (ticketId: number) => workspace.call('DELETE', `/tickets/${ticketId}/links/${link.id}`);
    expect(errorOf(await remove(unrelated)).message).toBe('Link not found in this workspace. Check the id.');
    expect((await remove(id)).status).toBe(200);
    const before = await read(id);
    expect(errorOf(await remove(id)).code).toBe('NOT_FOUND');
    expect(await read(id)).toEqual(before);
  });

  it('deletes a link once if two requests delete it concurrently', async () => {
    const { id } = await workspace.createTicket();
    const link = await workspace.createLink(id);
    const paths = [id, link.ticketId].map((each) => `/tickets/${each}/links/${link.id}`);
    const answers = await Promise.all(paths.map((path) => workspace.call('DELETE', path)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect([(await read(id)).linkCount, (await read(link.ticketId)).linkCount]).toEqual([0, 0]);
  });
});

it.each([{ linkCount: 1 }, { links: [] }])('rejects a PATCH of %j', async (body) => {
  const { id } = await workspace.createTicket();
  const { code, details } = errorOf(await workspace.call('PATCH', `/tickets/${id}`, body));
  expect([code, details?.[0]?.path]).toEqual(['VALIDATION_ERROR', Object.keys(body)[0]]);
});
