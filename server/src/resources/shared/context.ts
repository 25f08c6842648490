import type { TenantClient } from '../../database/client/tenant-client.ts';
import { inTransaction, type TransactionGuards } from '../../database/client/transaction.ts';
import type { Acting } from '../../shared/actor.ts';
import type { Etags } from '../../shared/etag.ts';
import type { HostLimits } from '../../webhooks/delivery/host-limits.ts';
import type { TargetPolicy } from '../../webhooks/delivery/target.ts';
import type { DispatchJobs } from '../../webhooks/outbox/dispatch-jobs.ts';
import type { SecretCipher } from '../../webhooks/secrets/secret-cipher.ts';

/** What every process part is given instead of reaching for it. */
export interface Services {
  now(): Date;
  secretCipher: SecretCipher;
  dispatchJobs: DispatchJobs;
  /** Tells the workers, in whatever process, that there is something to deliver. */
  wakeWorkers(): void;
  /** Where webhooks may be sent. */
  targets: TargetPolicy;
  /** How much may be sent to one host at once. */
  hostLimits: HostLimits;
  /** `PUBLIC_URL`, where errors link to. */
  publicUrl?: string | undefined;
  /** Names what goes on as W3C's `traceparent` does, where it is traced. */
  traceParent?: (() => string | undefined) | undefined;
}

/** What a query may use: one tenant's data, and the services. Inside a transaction `db` is the transaction. */
export interface Context extends Services, Acting {
  db: TenantClient;
  /** In which states the caller wants the row changed, where `If-Match` says it. */
  ifMatch?: Etags | undefined;
}

/** What a query may use that makes rows in somebody's name: a request has it, the command line has not. */
export interface UserContext extends Context {
  /** The user whom new rows name as their maker: the creator of the key (docs/decisions/api-keys.md). */
  userId: bigint;
  /** The key of the request. */
  keyId: bigint;
}

/** What is there within a transaction only: without it nothing can be emitted. */
export interface Transaction {
  /** Has something done when the transaction has been committed, and never when it is rolled back. */
  afterCommit(action: () => void): void;
}

/** Whether the context is that of a transaction which is under way. */
export function isWithin<Given extends Context>(context: Given): context is Given & Transaction {
  return 'afterCommit' in context;
}

/**
 * Runs `work` in one transaction: what it writes is committed whole or not at all. Within one that is under way it is a
 * part of that, which has it rolled back with all the rest when it throws.
 * @throws ConditionNotMet
 */
export async function transaction<Given extends Context, Result>(
  context: Given,
  work: (context: Given & Transaction) => Promise<Result>,
  edges?: TransactionGuards<Result>,
): Promise<Result> {
  if (isWithin(context)) return work(context);
  const actions: (() => void)[] = [];
  const afterCommit = (action: () => void) => actions.push(action);
  const result = await inTransaction(context.db, () => work({ ...context, afterCommit }), edges);
  for (const action of actions) action();
  return result;
}
