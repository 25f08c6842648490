import type { TenantClient } from './data/tenant.ts';
import type { SecretSealer } from './webhooks/secret.ts';

/** What every process part is given instead of reaching for it: the clock, the sealer and where webhooks may go. */
export interface Services {
  now(): Date;
  sealer: SecretSealer;
  allowPrivateTargets: boolean;
}

/** What a query may use: one tenant's data, and the services. Inside a transaction `db` is the transaction. */
export interface Context extends Services {
  db: TenantClient;
}

/** What a query may use that makes rows in somebody's name: a request has it, the command line has not. */
export interface UserContext extends Context {
  /** The user whom new rows name as their maker: the creator of the key (docs/decisions/keys.md). */
  userId: bigint;
}

interface TransactionOptions {
  /** After so many milliseconds it is rolled back; the default is that of data/prisma.ts. */
  timeout?: number;
}

/** Runs `work` in one transaction: what it writes is committed whole or not at all. */
export function transaction<Given extends Context, Result>(
  context: Given,
  work: (context: Given) => Promise<Result>,
  options: TransactionOptions = {},
): Promise<Result> {
  return context.db.$transaction((tx) => work({ ...context, db: tx as TenantClient }), options);
}
