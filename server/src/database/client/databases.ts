import { endsWithin } from '../../shared/timeout.ts';
import { connectionsFor } from '../connection-budget.ts';
import { OutageTracker } from '../outage-tracker.ts';
import { requestRole, systemRole } from '../roles.ts';
import type { Timeouts } from './connection.ts';
import { ConnectionWatchdog } from './connection-watchdog.ts';
import { Pool } from './pool.ts';
import { type Database, openSystemDatabase, openTenantDatabase } from './prisma.ts';
import type { StatementTracer } from './statement-tracer.ts';

export interface DatabasesOptions {
  url: string;
  /** Connections for requests at most. */
  requestConnections: number;
  timeouts: Timeouts;
  /** Whether this process delivers webhooks and keeps the job queues in order. */
  worker: boolean;
  /** Told when an idle connection breaks; another is made when one is needed. */
  onConnectionError: (error: Error) => void;
  /** Told when the database can't be reached. */
  reachability?: OutageTracker;
  /** Told of every statement, but for those of long work over all tenants. */
  tracer?: StatementTracer | undefined;
}

/** Every way of a process into its database, by purpose: none waits for a connection of another. */
export interface Databases {
  requests: Database;
  /** Whose key it is, before a tenant is known. */
  keyLookups: Pool;
  /** Who is in the developer area, and who wants to be: anybody may ask that, without limit. */
  accounts: Pool;
  system: Database;
  /** What a connection outside of the pools is opened with. */
  options: Pick<DatabasesOptions, 'url' | 'timeouts'> & {
    watch: ConnectionWatchdog;
    reachability: OutageTracker;
  };
  close(): Promise<void>;
}

/** A look-up is one row by its hash: what takes longer is lost. Milliseconds. */
const lookupTimeoutMs = 2000;

/** How long PostgreSQL may take to end the connections when the process ends. Milliseconds. */
const goodbyeMs = 1500;

/** Names the ways; connections are opened when they are first needed. */
export function openDatabases(options: DatabasesOptions): Databases {
  const { url, timeouts, worker, reachability = new OutageTracker(), tracer } = options;
  const watch = new ConnectionWatchdog();
  const onConnectionError = (error: Error) => {
    if (!reachability.explains(error, 'idle connections')) options.onConnectionError(error);
  };
  const shared = { connectionString: url, timeouts, watch, reachability, tracer, onConnectionError };
  let requests: Database | undefined;
  const lookups = {
    ...shared,
    role: systemRole,
    timeouts: { ...timeouts, statementMs: Math.min(timeouts.statementMs, lookupTimeoutMs) },
  } as const;
  const keyLookups = new Pool({ ...lookups, application_name: 'itsm-api keys', max: connectionsFor.keyLookups });
  const accounts = new Pool({ ...lookups, application_name: 'itsm-api accounts', max: connectionsFor.accounts });
  const system = openSystemDatabase({
    ...shared,
    application_name: 'itsm-api system',
    role: systemRole,
    max: worker ? connectionsFor.system.worker : connectionsFor.system.api,
  });
  return {
    // Made when it is asked for: a command has no use for it.
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
    options: { url, timeouts, watch, reachability },
    async close() {
      const ending = Promise.all([requests && end(requests), keyLookups.end(), accounts.end(), end(system)]);
      if (!(await endsWithin(goodbyeMs, ending))) watch.severAll();
      watch.close();
      reachability.close();
    },
  };
}

async function end({ prisma, pool }: Database): Promise<void> {
  await prisma.$disconnect();
  // Prisma ends a pool that it has used, and leaves one that was asked past it.
  if (!pool.ending) await pool.end();
}
