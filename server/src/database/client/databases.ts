import { endsWithin } from '../../shared/timeout.ts';
import { connectionsFor } from '../connection-budget.ts';
import { OutageTracker } from '../outage-tracker.ts';
import { requestRole, systemRole } from '../roles.ts';
import { ConnectionWatchdog } from './connection-watchdog.ts';
import { Pool, type PoolOptions } from './pool.ts';
import {
  type Database,
  openSystemDatabase,
  openTenantDatabase,
  type SystemClient,
  type SystemDatabase,
} from './prisma.ts';
import { createSystemStatements } from './statement-runner.ts';
import type { Timeouts } from './statement-timeout.ts';
import type { StatementTracer } from './statement-tracer.ts';

export interface DatabasesOptions {
  url: string;
  /** Maximum number of connections for requests. */
  requestConnections: number;
  timeouts: Timeouts;
  /** Whether this process delivers webhooks and maintains the job queues. */
  worker: boolean;
  /** Called when an idle connection is lost. The pool opens another connection on demand. */
  onConnectionError: (error: Error) => void;
  /** Records failed connections and counts errors, to detect database outages. */
  outages?: OutageTracker;
  /** Traces every statement, except statements on dedicated connections. */
  tracer?: StatementTracer | undefined;
}

/**
 * The connection pools of a process. Each purpose has its own pool, so one kind of work never waits for another kind's
 * connections.
 */
export interface Databases {
  requests: Database;
  /** The pool for API key lookups, which run before the tenant is known. */
  keyLookups: LookupDatabase;
  /** The pool for sessions and sign-ins in the developer area. They have no concurrency limit. */
  accounts: LookupDatabase;
  system: SystemDatabase;
  /** The options for connections outside the pools. */
  options: Pick<DatabasesOptions, 'url' | 'timeouts'> & {
    watchdog: ConnectionWatchdog;
    outages: OutageTracker;
  };
  close(): Promise<void>;
}

/** A pool for short lookups over all tenants, without Prisma. */
type LookupDatabase = { pool: Pool } & Pick<SystemClient, '$sql'>;

/**
 * The statement timeout in milliseconds for lookups of API keys and accounts. A lookup reads one row, so a slow lookup
 * indicates a failure.
 */
const lookupTimeoutMs = 2000;

/** Maximum number of milliseconds for a graceful close of the connections at shutdown. */
const maxCloseMs = 1500;

/** Creates the pools. They open connections on demand. */
export function openDatabases(options: DatabasesOptions): Databases {
  const { url, timeouts, worker, outages = new OutageTracker(), tracer } = options;
  const watchdog = new ConnectionWatchdog();
  const onConnectionError = (error: Error) => {
    if (!outages.explains(error, 'idle connections')) options.onConnectionError(error);
  };
  const shared = { connectionString: url, timeouts, watchdog, outages, tracer, onConnectionError };
  let requests: Database | undefined;
  const lookups = {
    ...shared,
    role: systemRole,
    timeouts: { ...timeouts, statementMs: Math.min(timeouts.statementMs, lookupTimeoutMs) },
  } as const;
  const keyLookups = openLookups({ ...lookups, application_name: 'itsm-api keys', max: connectionsFor.keyLookups });
  const accounts = openLookups({ ...lookups, application_name: 'itsm-api accounts', max: connectionsFor.accounts });
  const system = openSystemDatabase({
    ...shared,
    application_name: 'itsm-api system',
    role: systemRole,
    max: worker ? connectionsFor.system.worker : connectionsFor.system.api,
  });
  return {
    // Commands don't use this pool, so it is created on demand.
    get requests() {
      requests ??= openTenantDatabase({
        ...shared,
        application_name: 'itsm-api requests',
        role: requestRole,
        max: options.requestConnections,
      });
      return requests;
    },
    keyLookups,
    accounts,
    system,
    options: { url, timeouts, watchdog, outages },
    async close() {
      const ending = Promise.all([requests && end(requests), keyLookups.pool.end(), accounts.pool.end(), end(system)]);
      if (!(await endsWithin(maxCloseMs, ending))) watchdog.severAll();
      watchdog.close();
      outages.close();
    },
  };
}

function openLookups(options: PoolOptions): LookupDatabase {
  const pool = new Pool(options);
  return { pool, ...createSystemStatements(pool) };
}

async function end({ prisma, pool }: Database | SystemDatabase): Promise<void> {
  await prisma.$disconnect();
  // If Prisma has never used the pool, `$disconnect` doesn't close it.
  if (!pool.ending) await pool.end();
}
