import type { Database, SystemClient } from '@itsm-api/server/database/client/prisma.ts';
import type { RawOperation } from '@itsm-api/server/database/client/statement-runner.ts';

/** A system client with the operations of Prisma that run SQL, which the types of the server hide. */
export type RawClient = SystemClient & Pick<Database['prisma'], RawOperation>;

/** Returns a client that runs any SQL, so that tests can inspect PostgreSQL and write invalid rows. */
export function rawClient(client: SystemClient): RawClient {
  return client as RawClient;
}
