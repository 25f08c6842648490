import type { Settings } from '../config/env.ts';

/** Connections of a process beside those for requests. */
export const connectionsFor = {
  keyLookups: 2,
  accounts: 2,
  /** Deliveries, jobs and what else no tenant asks for. */
  system: { worker: 8, api: 3 },
  listener: 1,
  nightlyCheck: 1,
  /** By which a process holds the embedded PostgreSQL (embedded-postgres/embedded.ts). */
  holder: 1,
};

/** What a process may have open at once. */
export interface ConnectionUse {
  purpose: string;
  most: number;
  /** What changes it. */
  setting: keyof Settings;
}

/** All connections that a server process may have open at once, by purpose; those for migrating come before them. */
export function connectionBudget({ ROLES, DATABASE_POOL_SIZE, DATABASE_URL }: ConnectionSettings): ConnectionUse[] {
  const [api, worker] = [ROLES.includes('api'), ROLES.includes('worker')];
  const { keyLookups, accounts, system, listener, nightlyCheck, holder } = connectionsFor;
  const uses: ConnectionUse[] = [
    // A worker has one while it starts, to see that tenants are kept apart.
    { purpose: 'requests', most: api ? DATABASE_POOL_SIZE : 1, setting: api ? 'DATABASE_POOL_SIZE' : 'ROLES' },
    { purpose: 'key look-up', most: api ? keyLookups : 0, setting: 'ROLES' },
    { purpose: 'signing in', most: api ? accounts : 0, setting: 'ROLES' },
    { purpose: 'deliveries and jobs', most: worker ? system.worker : system.api, setting: 'ROLES' },
    { purpose: 'listening', most: (Number(api) + Number(worker)) * listener, setting: 'ROLES' },
    { purpose: 'the nightly check', most: worker ? nightlyCheck : 0, setting: 'ROLES' },
    { purpose: 'holding DATA_DIR', most: DATABASE_URL === undefined ? holder : 0, setting: 'DATABASE_URL' },
  ];
  return uses.filter(({ most }) => most > 0);
}

type ConnectionSettings = Pick<Settings, 'ROLES' | 'DATABASE_POOL_SIZE' | 'DATABASE_URL'>;

/** The budget on a line, the sum first. */
export function describeBudget(uses: ConnectionUse[]): string {
  const sum = uses.reduce((all, { most }) => all + most, 0);
  const parts = uses.map(({ purpose, most, setting }) => `${most} for ${purpose} (${setting})`);
  return `at most ${sum} connections to PostgreSQL: ${parts.join(', ')}`;
}
