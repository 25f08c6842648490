import { Prisma } from '../../../generated/prisma/client.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import type { Database } from './prisma.ts';
import { withinTenant } from './tenant-context.ts';

/** Operations whose `where` decides the rows. */
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

/** Operations whose `data` makes or changes rows. */
const writing = new Set(['create', 'createMany', 'createManyAndReturn', 'updateMany', 'updateManyAndReturn']);

const creating = new Set(['create', 'createMany', 'createManyAndReturn']);

type Arguments = { where?: object; data?: object | object[]; cursor?: unknown };

function extendedClient({ prisma, pool }: Database, tenantId: TenantId) {
  return prisma.$extends({
    name: 'tenant',
    client: { $tenantId: tenantId, $connections: pool },
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
 * The client that queries use: it sees and writes one tenant's rows, whatever it is asked
 * (docs/decisions/tenant-isolation.md). It refuses, with an error for the developer:
 * - operations that take a unique `where`, which would have to name the tenant (`findUnique`, `update`, `upsert`, …);
 * - `cursor`, for the same reason;
 * - anything but the model's own columns in `data`: no nested write, no `connect`, no `tenantId`;
 * - the model `Tenant`.
 * Composite foreign keys are the second wall: a relation leads to rows of the same tenant only.
 */
export type TenantClient = Omit<
  ReturnType<typeof extendedClient>,
  RawOperation | '$connections' | '$transaction' | '$extends' | '$connect' | '$disconnect'
>;

type RawOperation = '$queryRaw' | '$queryRawUnsafe' | '$executeRaw' | '$executeRawUnsafe';

/** The client for one tenant's rows. */
export function tenantClient(database: Database, tenantId: TenantId): TenantClient {
  return extendedClient(database, tenantId);
}

/** Raw SQL on the tenant client: its caller must filter by `$tenantId` itself. See tools/check-imports.ts for who may. */
export function rawClient(db: TenantClient): Pick<ReturnType<typeof extendedClient>, RawOperation> {
  return db as ReturnType<typeof extendedClient>;
}

/** The connections below the client, for statements outside of a transaction. */
export function connectionsOf(db: TenantClient): Database['pool'] {
  return (db as ReturnType<typeof extendedClient>).$connections;
}

interface Operation {
  model: Prisma.ModelName;
  operation: string;
  args: Arguments;
  tenantId: TenantId;
}

function restrict({ model, operation, args, tenantId }: Operation): Arguments {
  const refuse = (why: string): never => {
    throw new Error(`${model}.${operation} is refused by the tenant client: ${why}`);
  };
  if (model === 'Tenant') refuse('a tenant is no row of a tenant');
  if (!filtered.has(operation) && !creating.has(operation)) refuse('use an operation that takes a plain `where`');
  if (args.cursor !== undefined) refuse('`cursor` is a unique `where`');

  const result = { ...args };
  if (filtered.has(operation)) result.where = { AND: [args.where ?? {}, { tenantId }] };
  if (writing.has(operation)) {
    const columns = columnsOf(model);
    const rows = Array.isArray(args.data) ? args.data : [args.data ?? {}];
    for (const name of rows.flatMap(Object.keys)) {
      if (!columns.has(name) || name === 'tenantId') refuse(`\`data\` may not name ${name}`);
    }
    if (creating.has(operation)) {
      const owned = rows.map((row) => ({ ...row, tenantId }));
      result.data = Array.isArray(args.data) ? owned : owned[0];
    }
  }
  return result;
}

function columnsOf(model: Prisma.ModelName): Set<string> {
  const enums = Prisma as unknown as Record<string, Record<string, string>>;
  const names = enums[`${model}ScalarFieldEnum`];
  if (!names) throw new Error(`The generated client names no columns for ${model}.`);
  return new Set(Object.keys(names));
}
