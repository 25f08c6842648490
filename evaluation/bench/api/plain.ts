import { ConnectionWatchdog } from '@itsm-api/server/database/client/connection-watchdog.ts';
import { Pool } from '@itsm-api/server/database/client/pool.ts';
import { openDatabase } from '@itsm-api/server/database/client/prisma.ts';
import Fastify from 'fastify';

/*
 * A reference server that uses Fastify and Prisma's findMany and count. It has no API keys or validation. The parent
 * process stops the server.
 */
const options = {
  connectionString: process.env.DATABASE_URL ?? '',
  application_name: 'plain stack',
  max: 12,
  timeouts: { statementMs: 60_000, lockMs: 60_000 },
  watchdog: new ConnectionWatchdog(),
  onConnectionError: () => undefined,
};
const { prisma } = openDatabase(new Pool(options), options);
const app = Fastify();
const tenantId = 1n;

app.setReplySerializer((payload) => {
  return JSON.stringify(payload, (_, value) => (typeof value === 'bigint' ? Number(value) : value));
});

app.get('/api/public/v1/ping', async () => ({ success: true, data: { status: 'ok', version: 'v1' } }));

app.get<{ Querystring: { status?: 'OPEN'; assigneeId?: string; page?: string } }>(
  '/api/public/v1/tickets',
  async ({ query }) => {
    const where = {
      tenantId,
      ...(query.status !== undefined && { status: query.status }),
      ...(query.assigneeId !== undefined && { assigneeId: BigInt(query.assigneeId) }),
    };
    const page = Number(query.page ?? 1);
    const [totalCount, data] = await Promise.all([
      prisma.ticket.count({ where }),
      prisma.ticket.findMany({ where, orderBy: { id: 'desc' }, skip: (page - 1) * 20, take: 20 }),
    ]);
    return { success: true, data, meta: { page, perPage: 20, totalCount } };
  },
);

app.get<{ Params: { id: string } }>('/api/public/v1/tickets/:id', async ({ params }) => {
  const where = { tenantId_id: { tenantId, id: BigInt(params.id) } };
  return { success: true, data: await prisma.ticket.findUnique({ where }) };
});

app.post<{ Body: { title: string; description: string; category: 'NETWORK' } }>(
  '/api/public/v1/tickets',
  async ({ body }) => {
    const data = await prisma.$transaction(async (tx) => {
      const { total, incident } = await tx.ticketSequence.update({
        where: { tenantId },
        data: { total: { increment: 1 }, incident: { increment: 1 } },
      });
      return tx.ticket.create({
        data: { tenantId, ...body, type: 'INCIDENT', requesterId: 1n, ordinal: total, number: incident },
      });
    });
    return { success: true, data };
  },
);

app.patch<{ Params: { id: string }; Body: { title: string } }>(
  '/api/public/v1/tickets/:id',
  async ({ params, body }) => {
    const where = { tenantId_id: { tenantId, id: BigInt(params.id) } };
    return { success: true, data: await prisma.ticket.update({ where, data: { title: body.title } }) };
  },
);

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
process.stdout.write('ready\n');
