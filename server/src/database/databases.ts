import { atMost } from '../at-most.ts';
import type { Timeouts } from './connection.ts';
import { Pool } from './pool.ts';
import { type Database, openSystemDatabase, openTenantDatabase } from './prisma.ts';
import { requestRole, systemRole } from './roles.ts';
import { SilenceWatch } from './silence-watch.ts';

export interface DatabasesOptions {
  url: string;
  /** Connections for requests at most. */
  requestConnections: number;
  timeouts: Timeouts;
  /** Whether this process delivers webhooks and keeps the job queues in order. */
  worker: boolean;
  /** Told when an idle connection breaks; another is made when one is needed. */
  onConnectionError: (error: Error) => void;
}

/** Every way of a process into its database, by purpose: none waits for a connection of another. */
export interface Databases {
  requests: Database;
  /** Whose key it is, before a tenant is known. */
  keyLookups: Pool;
  system: Database;
  /** What a connection outside of the pools is opened with. */
  options: Pick<DatabasesOptions, 'url' | 'timeouts'> & { watch: SilenceWatch };
  close(): Promise<void>;
}

const keyLookupConnections = 2;
/** A look-up is one row by its hash: what takes longer is lost. Milliseconds. */
const keyLookupTimeoutMs = 2000;
const systemConnections = { worker: 8, api: 3 };

/** How long PostgreSQL may take to end the connections when the process ends. Milliseconds. */
const goodbyeMs = 1500;

/** Names the ways; connections are opened when they are first needed. */
export function openDatabases(options: DatabasesOptions): Databases {
  const { url, timeouts, worker, onConnectionError } = options;
  const watch = new SilenceWatch();
  const shared = { connectionString: url, timeouts, watch, onConnectionError };
  const requests = openTenantDatabase({
    ...shared,
    application_name: 'itsm-api requests',
    role: requestRole,
    max: options.requestConnections,
  });
  const keyLookups = new Pool({
    ...shared,
    application_name: 'itsm-api keys',
    role: systemRole,
    max: keyLookupConnections,
    timeouts: { ...timeouts, statementMs: Math.min(timeouts.statementMs, keyLookupTimeoutMs) },
  });
  const system = openSystemDatabase({
    ...shared,
    application_name: 'itsm-api system',
    role: systemRole,
    max: worker ? systemConnections.worker : systemConnections.api,
  });
  return {
    requests,
    keyLookups,
    system,
    options: { url, timeouts, watch },
    async close() {
      const ending = Promise.all([end(requests), keyLookups.end(), end(system)]);
      if (!(await atMost(goodbyeMs, ending))) watch.severAll();
      watch.close();
    },
  };
}

/** Prisma ends the pool below it, but only where it has been asked for something. */
async function end({ prisma, pool }: Database): Promise<void> {
  await prisma.$disconnect();
  if (!pool.ending) await pool.end();
}
