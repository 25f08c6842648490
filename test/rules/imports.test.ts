import { describe, expect, it } from 'vitest';
import { faultsOf } from '../../tools/check-imports.ts';

const queries = 'server/src/resources/tickets/queries.ts';

describe('the check of imports', () => {
  it.each([
    ['a query of the ways to all tenants', queries, '../../database/prisma.ts'],
    ['a query of connections of its own', queries, '../../database/own-connection.ts'],
    ['the developer area of the ways to all tenants', 'server/src/developer/plugin.ts', '../database/databases.ts'],
    ['a handler of the database', 'server/src/resources/tickets/handlers.ts', '../../database/tenant-client.ts'],
    ['http of queries', 'server/src/http/auth/guard.ts', '../resources/tickets/queries.ts'],
    ['webhooks of the context', 'server/src/webhooks/delivery/delivery-worker.ts', '../context.ts'],
    ['the database of a resource', 'server/src/database/jobs/job-queue.ts', '../resources/tickets/totals.ts'],
    ['the embedded server of the database', 'server/src/embedded-postgres/cluster.ts', '../database/migrate.ts'],
    ['the client of the contract', 'client/src/send.ts', '@itsm-api/contract'],
    ['a file of no room', 'server/src/helpers.ts', './env.ts'],
  ])('refuses an import by %s, and that of a type', (_, file, target) => {
    expect(faultsOf(file, `import { a } from '${target}';`)).toHaveLength(1);
    expect(faultsOf(file, `import type { A } from '${target}';`)).toHaveLength(1);
  });

  it('allows what goes the right way', () => {
    const source = "import { contract } from '@itsm-api/contract';\nimport { emit } from '../../webhooks/emit.ts';";
    expect(faultsOf(queries, source)).toEqual([]);
  });

  it.each([
    ['raw SQL in a presenter', 'server/src/shared/serialize.ts', 'await db.$queryRaw`SELECT 1`'],
    [
      'rows of all tenants in the developer area',
      'server/src/developer/plugin.ts',
      'await visit.accounts.system.prisma',
    ],
    ['the environment outside of the settings', queries, 'process.env.PORT'],
  ])('refuses %s', (_, file, source) => {
    expect(faultsOf(file, source)).toHaveLength(1);
  });
});
