import { setTimeout as sleep } from 'node:timers/promises';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/counters-check.ts';
import { rawClient } from '../../../support/raw-client.ts';
import type { MovesReport } from './report.ts';
import type { System, Tenant, Written } from './system.ts';
import { createOf, send } from './traffic.ts';

/** The start of the titles of tickets that exist before the test. */
const existingTitle = 'Ticket ';

interface Row {
  id: number;
  number: number;
  title: string;
  priority: string;
}

/** The maximum time until the receiver has all events and the copies are complete, in milliseconds. */
const maxEndMs = 60_000;

type Found = Pick<MovesReport, 'lost' | 'extra' | 'missed' | 'undelivered' | 'wrong'>;

/** Compares the databases, the copies of the change feeds and the received events with the acknowledged requests. */
export async function compare(system: System): Promise<Found> {
  const { cells, tenants, moving, receiver } = system;
  const found: Found = { lost: [], extra: [], missed: [], undelivered: [], wrong: [] };
  for (const tenant of moving) {
    // The cell returns the stored response of a request, which the client may have sent to the other cell.
    const [id, { title }] = [...tenant.written][0] as [number, Written];
    const repeated = await send(system, tenant, createOf(title));
    if (repeated.body.data?.id !== id) found.extra.push(`${tenant.name}: ${title} was created twice`);
  }
  for (const tenant of tenants) await compareTickets(tenant, found);
  for (const tenant of moving) {
    const { name, tenantId, cell, written, copy } = tenant;
    const isMissed = ([id, { etag }]: [number, Written]) => copy?.get(id)?.etag !== etag;
    const missed = await settle(() => [...written].filter(isMissed).map(([, { title }]) => `${name}: ${title}`));
    found.missed.push(...missed);
    const events = await rawClient(cell.runtime.prisma).$queryRaw<{ id: string }[]>`
      SELECT public_id AS id FROM events WHERE tenant_id = ${tenantId}`;
    const undelivered = await settle(() => {
      const received = new Set(receiver.arrivals.map(({ eventId }) => eventId));
      return events.filter(({ id }) => !received.has(id)).map(({ id }) => `${name}: ${id}`);
    });
    found.undelivered.push(...undelivered);
    if (events.length !== written.size) {
      found.undelivered.push(`${name}: ${written.size} tickets have ${events.length} events`);
    }
  }
  for (const cell of cells) {
    const { name, runtime } = cell;
    const totals = await findWrongTotals(runtime.databases.options);
    found.wrong.push(...totals.map((total) => `${name}: ${JSON.stringify(total)}`));
    const own = tenants.filter((tenant) => tenant.cell === cell).map(({ tenantId }) => tenantId);
    const left = await rawClient(runtime.prisma).$queryRaw<{ id: bigint }[]>`
      SELECT id FROM (SELECT tenant_id AS id FROM tickets UNION SELECT id FROM tenants
        UNION SELECT id FROM deleted_tenants WHERE completed_at IS NULL) AS found
      WHERE NOT id = ANY (${own})`;
    found.wrong.push(...left.map(({ id }) => `${name} contains rows of the tenant ${id}`));
  }
  return found;
}

async function compareTickets({ name, tenantId, cell, size, written }: Tenant, found: Found): Promise<void> {
  const rows = await rawClient(cell.runtime.prisma).$queryRaw<Row[]>`
    SELECT id::float8, number, title, priority FROM tickets WHERE tenant_id = ${tenantId} ORDER BY number`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const [id, { title, priority }] of written) {
    const row = byId.get(id);
    if (row?.title !== title || row.priority !== priority) found.lost.push(`${name}: ${title}`);
  }
  const others = rows.filter(({ id }) => !written.has(id));
  const existing = others.filter(({ title }) => title.startsWith(existingTitle));
  if (existing.length !== size) found.lost.push(`${name}: ${size - existing.length} tickets from before the test`);
  found.extra.push(...others.filter((row) => !existing.includes(row)).map(({ title }) => `${name}: ${title}`));
  if (rows.some(({ number }, index) => number !== index + 1)) found.wrong.push(`${name}: ticket numbers have gaps`);
}

/** Waits until `find` finds nothing, or the timeout expires. Returns what it found last. */
async function settle(find: () => string[]): Promise<string[]> {
  for (const deadline = Date.now() + maxEndMs; ; await sleep(100)) {
    const found = find();
    if (found.length === 0 || Date.now() > deadline) return found;
  }
}
