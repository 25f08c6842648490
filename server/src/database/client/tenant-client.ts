import { Prisma, type PrismaClient } from '../../../generated/prisma/client.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import type { Pool } from './pool.ts';
import { createTenantStatements, type RawOperation, type TenantStatements } from './statement-runner.ts';
import { withinTenant } from './tenant-context.ts';

/** The Prisma operations whose `where` selects the rows. */
const filtered = new Set([
  'findFirst',
  'findFirstOrThrow',
  'findMany',
  'count',
  'aggregate',
  'groupBy',
  'updateMany',
  'updateManyAndReturn',
  'deleteMany',
]);

/** The Prisma operations whose `data` creates or changes rows. */
const writing = new Set(['create', 'createMany', 'createManyAndReturn', 'updateMany', 'updateManyAndReturn']);

const creating = new Set(['create', 'createMany', 'createManyAndReturn']);

type Arguments = { where?: object; data?: object | object[]; cursor?: unknown };

function extendedClient(prisma: PrismaClient, pool: Pool, tenantId: TenantId) {
  return prisma.$extends({
    name: 'tenant',
    client: { $tenantId: tenantId, ...createTenantStatements(pool, tenantId) },
    query: {
      $allModels: {
        $allOperations({ model, operation, args, query }) {
          const restricted = restrict({ model, operation, args: args as Arguments, tenantId }) as typeof args;
          return withinTenant(tenantId, () => query(restricted));
        },
      },
    },
  });
}

/**
 * A Prisma client that reads and writes only the rows of one tenant (docs/decisions/tenant-isolation.md). The client
 * throws an Error for:
 * - operations with a unique `where`, such as `findUnique` and `upsert`, because the `where` would have to contain the
 *   tenant;
 * - `cursor`, because a cursor would also have to contain the tenant;
 * - `tenantId` in `data`, and fields in `data` that aren't columns of the model, such as nested writes and `connect`;
 * - the model `Tenant`.
 *
 * Composite foreign keys also isolate tenants: a row can refer only to rows of its own tenant.
 */
export type TenantClient = Omit<
  ReturnType<typeof extendedClient>,
  RawOperation | '$extends' | '$connect' | '$disconnect' | keyof TenantStatements
> &
  TenantStatements;

/** Returns a client for the rows of one tenant. */
export function tenantClient({ prisma, pool }: { prisma: object; pool: Pool }, tenantId: TenantId): TenantClient {
  return extendedClient(prisma as PrismaClient, pool, tenantId) as unknown as TenantClient;
}

interface Operation {
  model: Prisma.ModelName;
  operation: string;
  args: Arguments;
  tenantId: TenantId;
}

function restrict({ model, operation, args, tenantId }: Operation): Arguments {
  const reject = (reason: string): never => {
    throw new Error(`The tenant client rejects ${model}.${operation}: ${reason}`);
  };
  if (model === 'Tenant') reject('rows of Tenant belong to no tenant; use the system client');
  if (!filtered.has(operation) && !creating.has(operation)) reject('use an operation that takes a plain `where`');
  if (args.cursor !== undefined) reject('`cursor` is a unique `where`; filter with a plain `where`');

  const result = { ...args };
  if (filtered.has(operation)) result.where = { AND: [args.where ?? {}, { tenantId }] };
  if (writing.has(operation)) {
    const columns = getColumns(model);
    const rows = Array.isArray(args.data) ? args.data : [args.data ?? {}];
    for (const name of rows.flatMap(Object.keys)) {
      if (!columns.has(name) || name === 'tenantId') reject(`\`data\` must not contain ${name}`);
    }
    if (creating.has(operation)) {
      const owned = rows.map((row) => ({ ...row, tenantId }));
      result.data = Array.isArray(args.data) ? owned : owned[0];
    }
  }
  return result;
}

function getColumns(model: Prisma.ModelName): Set<string> {
  const enums = Prisma as unknown as Record<string, Record<string, string>>;
  const names = enums[`${model}ScalarFieldEnum`];
  if (!names) throw new Error(`The generated client has no columns for ${model}. Run \`pnpm generate\`.`);
  return new Set(Object.keys(names));
}
