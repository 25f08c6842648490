import { describe, expect, it } from 'vitest';
import { faultsOf } from '../../tools/check-imports.ts';

const queries = 'server/src/resources/tickets/queries.ts';

describe('the import check', () => {
  it.each([
    ['the database of all tenants by a query', queries, '../../database/client/prisma.ts'],
    ['own connections by a query', queries, '../../database/client/dedicated-connection.ts'],
    ['the databases by the developer area', 'server/src/developer/plugin.ts', '../database/client/databases.ts'],
    ['the database by a handler', 'server/src/resources/handlers.ts', '../database/client/tenant-client.ts'],
    ['queries by the HTTP layer', 'server/src/http/auth/guard.ts', '../../resources/tickets/queries.ts'],
    ['the context by webhooks', 'server/src/webhooks/delivery/delivery-worker.ts', '../../resources/shared/context.ts'],
    [
      'a resource by the database',
      'server/src/database/jobs/job-queue.ts',
      '../../resources/tickets/counters-check.ts',
    ],
    [
      'the database by the embedded server',
      'server/src/embedded-postgres/cluster.ts',
      '../database/migrations/migration-runner.ts',
    ],
    ['the ts-rest router by the main entry of the contract', 'contract/src/index.ts', './ts-rest.ts'],
    ['a later resource by an earlier one', 'server/src/resources/tickets/queries.ts', '../users/queries.ts'],
    [
      'a resource by a folder without a place in the order',
      'server/src/resources/new/queries.ts',
      '../users/queries.ts',
    ],
    ['the layout by the framework of the developer area', 'server/src/developer/framework/page.ts', '../ui/layout.ts'],
    ['the contract by the client', 'client/src/send.ts', '@itsm-api/contract'],
    ['the environment by a file outside all layers', 'server/src/helpers.ts', './env.ts'],
  ])('rejects value imports and type imports of %s', (_, file, target) => {
    expect(faultsOf(file, `import { a } from '${target}';`)).toHaveLength(1);
    expect(faultsOf(file, `import type { A } from '${target}';`)).toHaveLength(1);
  });

  it('accepts imports in the directions that the architecture allows', () => {
    const source =
      "import { contract } from '@itsm-api/contract';\nimport { emit } from '../../webhooks/outbox/emit.ts';";
    expect(faultsOf(queries, source)).toEqual([]);
  });

  it.each([
    [
      'an import of ts-rest in a schema of the contract',
      'contract/src/endpoint.ts',
      "import { initContract } from '@ts-rest/core';",
    ],
    ['a use of raw SQL of Prisma in a query', queries, 'await db.$queryRaw`SELECT 1`'],
    ['a new pool of connections in the metrics', 'server/src/operations/metrics/key-metrics.ts', 'new Pool(options)'],
    [
      'an import of Prisma as a value in a query',
      queries,
      "import { Prisma } from '../../../generated/prisma/client.ts';",
    ],
    [
      'a use of the rows of all tenants in the developer area',
      'server/src/developer/plugin.ts',
      'await visit.accounts.system.prisma',
    ],
    ['a use of the environment outside of the settings', queries, 'process.env.PORT'],
  ])('rejects %s', (_, file, source) => {
    expect(faultsOf(file, source)).toHaveLength(1);
  });
});
