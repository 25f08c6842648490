import type { TenantClient } from '../../database/client/tenant-client.ts';
import { type BoundaryStatements, inTransaction } from '../../database/client/transaction.ts';
import type { Acting } from '../../shared/actor.ts';
import type { Etags } from '../../shared/etag.ts';
import type { HostLimits } from '../../webhooks/delivery/in-flight.ts';
import type { TargetPolicy } from '../../webhooks/delivery/target.ts';
import type { DispatchJobs } from '../../webhooks/outbox/dispatch-jobs.ts';
import type { SecretCipher } from '../../webhooks/secrets/secret-cipher.ts';

/** The dependencies that the process passes to all its modules. */
export interface Services {
  now(): Date;
  secretCipher: SecretCipher;
  dispatchJobs: DispatchJobs;
  /** Notifies the webhook workers of all processes that there are new deliveries. */
  wakeWorkers(): void;
  /** The policy that defines to which URLs and addresses the server can send webhooks. */
  targets: TargetPolicy;
  /** The limits of webhook requests per target host. */
  hostLimits: HostLimits;
  /** The base URL of the links in errors (`PUBLIC_URL`). */
  publicUrl?: string | undefined;
  /** Returns the current W3C `traceparent`. Undefined if tracing is off. */
  traceParent?: (() => string | undefined) | undefined;
}

/**
 * The context in which code reads and changes the data of one tenant. Statements on `db` are part of the current
 * transaction, if there is one.
 */
export interface Context extends Services, Acting {
  db: TenantClient;
  /** The ETags in the `If-Match` header of the request. */
  ifMatch?: Etags | undefined;
}

/** The context of code that acts for a user. Requests to the API have a user, but the command line has none. */
export interface UserContext extends Context {
  /** The user that the API key acts for. New rows store this user (docs/decisions/api-keys.md). */
  userId: bigint;
  /** The id of the API key of the request. */
  keyId: bigint;
}

/**
 * The part of the context that exists only within a transaction. `emit` requires it, so that events and changes commit
 * together.
 */
export interface Transaction {
  /** Registers a callback that runs after the commit. After a rollback, the callback does not run. */
  afterCommit(action: () => void): void;
}

/** Returns true if the context belongs to an open transaction. */
export function isWithin<Given extends Context>(context: Given): context is Given & Transaction {
  return 'afterCommit' in context;
}

/**
 * Runs `work` in a transaction. If a transaction is already open, `work` runs in it, and an error rolls back the whole
 * transaction.
 * @throws ConditionNotMet
 */
export async function transaction<Given extends Context, Result>(
  context: Given,
  work: (context: Given & Transaction) => Promise<Result>,
  boundaries?: BoundaryStatements<Result>,
): Promise<Result> {
  if (isWithin(context)) return work(context);
  const actions: (() => void)[] = [];
  const afterCommit = (action: () => void) => actions.push(action);
  const result = await inTransaction(context.db, () => work({ ...context, afterCommit }), boundaries);
  for (const action of actions) action();
  return result;
}
