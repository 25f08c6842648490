import type { Settings } from '../../config/env.ts';
import { checkConnection, PoolerError } from '../../database/check-connection.ts';
import type { Databases } from '../../database/client/databases.ts';
import { assertTenantIsolation, requestRole, TenantIsolationError } from '../../database/roles.ts';
import { caseAdvice, findDamage, readServerInfo } from '../../database/server-info.ts';
import { checkSchema, findMissingRoles, SchemaOutdatedError } from '../../process/ensure-schema.ts';
import { findWrongTotals } from '../../resources/tickets/counters-check.ts';
import { serializeId } from '../../shared/serialize.ts';
import { findOldestDue, findOpenCircuits, findOverQuota } from '../../webhooks/outbox/pending.ts';
import { createSecretCipher } from '../../webhooks/secrets/secret-cipher.ts';
import { type KeyUse, readKeyUse, readSecretKeys } from '../../webhooks/secrets/secret-keys.ts';
import type { SubscriptionRef } from '../../webhooks/subscription-ref.ts';

/** What the checks of `itsm doctor` look at: an installation as its settings name it, in whatever state it is. */
export interface Installation {
  settings: Settings;
  databases: Databases;
}

/** What a check found. `note` is worth knowing; `wrong` wants somebody to do something. */
export interface Finding {
  level: 'ok' | 'note' | 'wrong';
  says: string;
  /** What to do. */
  advice?: string;
  /** The same for programs. */
  details?: object[];
}

/** How many subscriptions a finding names. */
const mostNamed = 10;

export interface Check {
  name: string;
  /** Whether the later ones can't look where this one finds something wrong. */
  essential?: boolean;
  look(installation: Installation): Promise<Finding[]>;
}

const ok = (says: string): Finding => ({ level: 'ok', says });
const note = (says: string, advice: string): Finding => ({ level: 'note', says, advice });
const wrong = (says: string, advice: string): Finding => ({ level: 'wrong', says, advice });

/** In the order in which they are made. Each reads, and none changes anything of the database. */
export const checks: Check[] = [
  {
    name: 'listener',
    // Through such a pooler the later ones would get mixed up, too.
    essential: true,
    async look({ databases }) {
      try {
        await checkConnection(databases.options.url, databases.options.timeouts);
        return [ok('A notification comes back: revoked keys and new deliveries are heard of.')];
      } catch (error) {
        const advice =
          error instanceof PoolerError
            ? 'No server starts until then.'
            : 'See that PostgreSQL runs, and that this machine and the role of DATABASE_URL may connect to it.';
        return [wrong((error as Error).message, advice)];
      }
    },
  },
  {
    name: 'PostgreSQL',
    async look({ databases }) {
      const { version, versionNumber, ignoresCase } = await readServerInfo(databases.options);
      const search = ignoresCase ? [] : [note('Search is case-sensitive beyond ASCII.', caseAdvice)];
      const major = Math.floor(versionNumber / 10_000);
      if (major < oldestMajor) {
        return [
          wrong(
            `It is version ${version}.`,
            `Move to version ${oldestMajor} or newer: this one is not corrected any more.`,
          ),
          ...search,
        ];
      }
      if (major > newestMajor) {
        return [
          note(`It is version ${version}.`, `Look out: this version of the program was tested up to ${newestMajor}.`),
          ...search,
        ];
      }
      return [ok(`It is version ${version}.`), ...search];
    },
  },
  {
    name: 'roles',
    essential: true,
    async look({ databases }) {
      const missing = await findMissingRoles(databases.options.url);
      if (missing.length === 0) return [ok('The role of DATABASE_URL may take those of requests and of the system.')];
      const statements = missing.map((statement) => `${statement};`).join(' ');
      return [
        wrong(
          'The roles that keep tenants apart are missing, or the role of DATABASE_URL may not take them.',
          `Run \`itsm migrate\`, or have an administrator of PostgreSQL run: ${statements}`,
        ),
      ];
    },
  },
  {
    name: 'migrations',
    essential: true,
    async look({ databases }) {
      try {
        const { ahead } = await checkSchema(databases.options.url);
        if (ahead.length === 0) return [ok('The database is as this version of the program needs it.')];
        return [
          note(
            `The database is ahead of this version of the program: a newer one has applied ${ahead.join(', ')}.`,
            'Replace the processes of this version by the newer one.',
          ),
        ];
      } catch (error) {
        if (error instanceof SchemaOutdatedError) return [wrong(error.says, error.advice)];
        throw error;
      }
    },
  },
  {
    name: 'row-level security',
    async look({ databases }) {
      try {
        await databases.requests.pool.lend(assertTenantIsolation);
        return [ok(`Without a tenant, ${requestRole} sees no row.`)];
      } catch (error) {
        if (error instanceof TenantIsolationError) return [wrong(error.message, 'No server starts until then.')];
        throw error;
      }
    },
  },
  {
    name: 'data files',
    async look({ databases }) {
      const damage = await findDamage(databases.system.pool);
      if (damage === undefined) return [ok('PostgreSQL has found no page damaged.')];
      return [wrong(damage, 'See docs/operations.md, "When data files are damaged".')];
    },
  },
  {
    name: 'WEBHOOK_SECRET_KEY',
    async look({ settings, databases }) {
      const use = await readKeyUse(databases.system.pool, createSecretCipher(await readSecretKeys(settings)));
      return use.map((key) => ({ ...findingOf(key), details: [key] }));
    },
  },
  {
    name: 'Redis',
    async look({ settings: { RATE_LIMIT_STORE, REDIS_URL } }) {
      if (RATE_LIMIT_STORE !== 'redis' || REDIS_URL === undefined) {
        return [ok('It is not used: each process counts rate limits by itself.')];
      }
      // Its client is 8 MB, which only installations with Redis load.
      const { openRedisCounter } = await import('../../http/rate-limit/redis-windows.ts');
      let reason = '';
      const onAway = (why: string) => {
        reason = why;
      };
      const redis = await openRedisCounter({ url: REDIS_URL, onAway, onBack: () => undefined });
      redis.close();
      if (!redis.server) {
        return [
          wrong(
            `Rate limits can't be counted there: ${reason}`,
            'See docs/operations.md, "When Redis is away". Until then each process counts by itself.',
          ),
        ];
      }
      const [server, version = ''] = redis.server.split(' ');
      if (server === 'redis' && Number.parseInt(version, 10) < oldestRedis) {
        return [wrong(`It is version ${version}.`, `Move to Redis ${oldestRedis} or newer, or to Valkey.`)];
      }
      return [ok(`Rate limits can be counted by ${redis.server}.`)];
    },
  },
  {
    name: 'clock',
    async look({ databases }) {
      const { clockAheadMs } = await readServerInfo(databases.options);
      const seconds = Math.abs(clockAheadMs / 1000).toFixed(1);
      const says = `The clock of this machine is ${seconds} s ${clockAheadMs < 0 ? 'behind' : 'ahead of'} that of the database.`;
      if (Math.abs(clockAheadMs) <= clockToleranceMs) return [ok(says)];
      return [
        wrong(
          says,
          'Set both by NTP: keys expire and signatures of webhooks are dated by this one, and receivers refuse what is minutes off.',
        ),
      ];
    },
  },
  {
    name: 'deliveries',
    async look({ databases }) {
      const oldest = await findOldestDue(databases.system.prisma);
      if (oldest === undefined) return [ok('None is due.')];
      const { tenantId, subscriptionId, seconds } = oldest;
      const says = `The oldest that is due, to subscription ${subscriptionId} of tenant ${tenantId}, has been so for ${Math.round(seconds)} s.`;
      if (seconds <= dueToleranceSeconds) return [ok(says)];
      return [
        wrong(
          says,
          'See that a process with ROLES=worker runs, and what its log says. Where one runs, it has more to do than it can, ' +
            `or that endpoint is slow: \`itsm deliveries list --tenant ${tenantId} --subscription ${subscriptionId}\`.`,
        ),
      ];
    },
  },
  {
    name: 'circuits',
    async look({ databases }) {
      const open = await findOpenCircuits(databases.system.prisma);
      if (open.length === 0) return [ok('None is open.')];
      const count =
        open.length === 1 ? '1 subscription has an open circuit' : `${open.length} subscriptions have open circuits`;
      const advice = '`itsm webhooks show <id> --tenant <tenant>` says why, and when the next attempt is.';
      return [note(`${count}: ${namesOf(open)}.`, advice)];
    },
  },
  {
    name: 'quota',
    async look({ databases }) {
      const stopped = await findOverQuota(databases.system.prisma);
      if (stopped.length === 0) return [ok('No subscription is stopped by WEBHOOK_MAX_PENDING_DELIVERIES.')];
      const says = `No new deliveries, by WEBHOOK_MAX_PENDING_DELIVERIES, for ${namesOf(stopped)}.`;
      return [wrong(says, 'See docs/operations.md, "A workspace has too many pending deliveries".')];
    },
  },
  {
    name: 'totals',
    async look({ databases }) {
      const found = await findWrongTotals(databases.options);
      if (found.length === 0) return [ok('All are what counting gives.')];
      return found.map(({ tenantId, ...total }) => ({
        ...wrong(
          `Tenant ${tenantId}: ${total.what}: kept ${total.kept}, counted ${total.counted}.`,
          'See docs/operations.md, "When a total is wrong".',
        ),
        details: [{ tenantId: serializeId(tenantId), ...total }],
      }));
    },
  },
];

/** Versions of PostgreSQL that are corrected by those who make it, and the newest that the tests ran on. */
const oldestMajor = 15;
const newestMajor = 18;

const oldestRedis = 7;

const clockToleranceMs = 2000;
/** A worker looks every second. */
const dueToleranceSeconds = 60;

/** Names the first subscriptions of a list. */
function namesOf(subscriptions: SubscriptionRef[]): string {
  const named = subscriptions
    .slice(0, mostNamed)
    .map(({ tenantId, subscriptionId }) => `subscription ${subscriptionId} of tenant ${tenantId}`);
  return `${named.join(', ')}${subscriptions.length > mostNamed ? ' and others' : ''}`;
}

function findingOf({ position, keyId, secrets, active }: KeyUse): Finding {
  if (position === 1) return ok(`Key 1 encrypts ${secrets} of the stored secrets.`);
  if (position === null) {
    const says = `A key that it doesn't hold (${keyId}) has encrypted ${secrets} secrets, ${active} of active subscriptions.`;
    if (active === 0) return note(says, 'Nothing: nothing is sent to inactive subscriptions.');
    return wrong(
      says,
      'Put that key (again) behind the first one; without it these are not sent to, and no server starts.',
    );
  }
  if (secrets === 0) {
    return note(
      `Key ${position} encrypts none.`,
      'Take it out when every server has been started with the first one before it.',
    );
  }
  return note(`Key ${position} still encrypts ${secrets}.`, 'Run `itsm secrets reseal`; until then it is needed.');
}
