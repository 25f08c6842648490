import type { TenantClient } from '../../database/client/tenant-client.ts';
import type { BoundaryStatements } from '../../database/client/transaction.ts';
import { selectNotInMaintenance } from '../../database/tenant-maintenance.ts';
import type { ActorContext } from '../../shared/actor.ts';
import { maintenanceError } from '../../shared/errors.ts';
import type { Etags } from '../../shared/etag.ts';
import type { AttachmentStorage } from '../../storage/attachment-storage.ts';
import type { HostLimits } from '../../webhooks/delivery/in-flight.ts';
import type { TargetPolicy } from '../../webhooks/delivery/target.ts';
import type { DispatchJobs } from '../../webhooks/outbox/dispatch-jobs.ts';
import type { SecretCipher } from '../../webhooks/secrets/secret-cipher.ts';

/** The dependencies that a process passes to its modules. */
export interface Services {
  now(): Date;
  secretCipher: SecretCipher;
  dispatchJobs: DispatchJobs;
  /** Notifies the webhook workers in all processes about new deliveries. */
  wakeWorkers(): void;
  /** The policy that defines which URLs and addresses the server can send webhooks to. */
  targets: TargetPolicy;
  /** The limits for webhook requests to each target host. */
  hostLimits: HostLimits;
  /** The storage for the content of attachments. */
  storage: AttachmentStorage;
  /** The maximum number of bytes of an attachment, and of all attachments of a workspace. */
  attachmentLimits: { maxBytes: number; quotaBytes: number };
  /** The base URL for links in errors (`PUBLIC_URL`). */
  publicUrl?: string | undefined;
  /** Returns the current W3C `traceparent`. Undefined if tracing is off. */
  traceParent?: (() => string | undefined) | undefined;
  /** The operating-system user who runs the command. Undefined in a server. */
  osUser?: string | undefined;
}

/**
 * The context for reading and changing one tenant's data. If a transaction is open, statements on `db` are part of it.
 */
export interface Context extends Services, ActorContext {
  db: TenantClient;
  /**
   * Whether the workspace has rules for custom fields. Undefined if the caller doesn't know
   * (docs/decisions/custom-fields-design.md).
   */
  hasFieldRules?: boolean;
  /** Whether an administrator overrides the policy for changes in the developer area (docs/decisions/changes.md). */
  overridesChangePolicy?: boolean;
  /** The ETags in the request's `If-Match` header. */
  ifMatch?: Etags | undefined;
  /**
   * Whether `transaction` checks that the tenant isn't in maintenance. True for commands. The server checks requests
   * before their transactions, without a query (http/auth/guard.ts).
   */
  checksMaintenance?: boolean;
}

/** The context for code that acts for a user. API requests have a user, but the command line doesn't. */
export interface UserContext extends Context {
  /** The id of the user that the API key acts for. New rows store this id (docs/decisions/api-keys-design.md). */
  userId: bigint;
  /** The id of the request's API key. */
  keyId: bigint;
}

/**
 * The part of the context that exists only in a transaction. `emit` requires it, so that events and changes commit
 * together.
 */
export interface Transaction {
  /**
   * Registers a callback that runs after the commit. After a rollback, the callback does not run. `transaction` waits
   * for the promise of the callback, which must not reject.
   */
  afterCommit(action: () => unknown): void;
}

/** Returns true if the context is in an open transaction. */
export function isWithin<Base extends object>(context: Base): context is Base & Transaction {
  return 'afterCommit' in context;
}

/**
 * Runs `work` in a transaction. If a transaction is already open, runs `work` in that transaction. An error in `work`
 * rolls back the whole transaction.
 * @throws ConditionNotMet; ApiError SERVICE_UNAVAILABLE if a command writes to a tenant in maintenance
 */
export async function transaction<Base extends Pick<Context, 'db' | 'checksMaintenance'>, Result>(
  context: Base,
  work: (context: Base & Transaction) => Promise<Result>,
  boundaries?: BoundaryStatements<Result>,
): Promise<Result> {
  if (isWithin(context)) return work(context);
  const actions: (() => unknown)[] = [];
  const afterCommit = (action: () => unknown) => actions.push(action);
  const run = async () => {
    if (context.checksMaintenance === true) await assertNotInMaintenance(context.db);
    return work({ ...context, afterCommit });
  };
  const result = await context.db.$transaction(run, boundaries);
  for (const action of actions) await action();
  return result;
}

/** Runs `read` in the open transaction, or in a new one. Commands can also read tenants in maintenance. */
export function readTransaction<Result>(
  context: Pick<Context, 'db'>,
  read: (db: TenantClient) => Promise<Result>,
): Promise<Result> {
  const { db } = context;
  return isWithin(context) ? read(db) : db.$transaction(() => read(db));
}

/** Checks that the tenant of a command isn't in maintenance. @throws ApiError SERVICE_UNAVAILABLE */
async function assertNotInMaintenance(db: TenantClient): Promise<void> {
  const found = await db.$sql(selectNotInMaintenance);
  if (found.length === 0) throw maintenanceError();
}
