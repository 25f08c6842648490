import type { Settings } from '../config/env.ts';

/**
 * The maximum number of connections that a process opens for each purpose. For requests, DATABASE_POOL_SIZE sets this
 * maximum.
 */
export const connectionsFor = {
  keyLookups: 2,
  accounts: 2,
  /** For deliveries, jobs and other work that covers all tenants. */
  system: { worker: 8, api: 3 },
  listener: 1,
  nightlyCheck: 1,
  /** The connection whose lock keeps the embedded PostgreSQL running (embedded-postgres/embedded.ts). */
  holder: 1,
};

/** The maximum number of connections for one purpose. */
export interface ConnectionUse {
  purpose: string;
  max: number;
  /** The setting that changes `max`. */
  setting: keyof Settings;
}

/**
 * Returns the maximum number of connections of a server process for each purpose. Omits migrations, because a migration
 * closes its connections before the server opens other connections.
 */
export function connectionBudget({ ROLES, DATABASE_POOL_SIZE, DATABASE_URL }: ConnectionSettings): ConnectionUse[] {
  const [api, worker] = [ROLES.includes('api'), ROLES.includes('worker')];
  const { keyLookups, accounts, system, listener, nightlyCheck, holder } = connectionsFor;
  const uses: ConnectionUse[] = [
    // At startup, a process without the role `api` opens one connection to check row-level security.
    { purpose: 'requests', max: api ? DATABASE_POOL_SIZE : 1, setting: api ? 'DATABASE_POOL_SIZE' : 'ROLES' },
    { purpose: 'key lookup', max: api ? keyLookups : 0, setting: 'ROLES' },
    { purpose: 'signing in', max: api ? accounts : 0, setting: 'ROLES' },
    { purpose: 'deliveries and jobs', max: worker ? system.worker : system.api, setting: 'ROLES' },
    { purpose: 'listening', max: (Number(api) + Number(worker)) * listener, setting: 'ROLES' },
    { purpose: 'the nightly check', max: worker ? nightlyCheck : 0, setting: 'ROLES' },
    { purpose: 'the embedded PostgreSQL', max: DATABASE_URL === undefined ? holder : 0, setting: 'DATABASE_URL' },
  ];
  return uses.filter(({ max }) => max > 0);
}

type ConnectionSettings = Pick<Settings, 'ROLES' | 'DATABASE_POOL_SIZE' | 'DATABASE_URL'>;

/** Formats the connection budget in one line that starts with the total. */
export function describeBudget(uses: ConnectionUse[]): string {
  const sum = uses.reduce((all, { max }) => all + max, 0);
  const parts = uses.map(({ purpose, max, setting }) => `${max} for ${purpose} (${setting})`);
  return `at most ${sum} connections to PostgreSQL: ${parts.join(', ')}`;
}
