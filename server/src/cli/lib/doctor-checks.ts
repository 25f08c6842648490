import { existsSync } from 'node:fs';
import { access, constants, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { attachmentsDirectory, type Settings } from '../../config/env.ts';
import { checkConnection, PoolerError } from '../../database/check-connection.ts';
import type { Databases } from '../../database/client/databases.ts';
import { assertTenantIsolation, requestRole, TenantIsolationError } from '../../database/roles.ts';
import { caseAdvice, findDamage, readServerInfo } from '../../database/server-info.ts';
import { checkStore, findStore, type Store, StoreMismatchError } from '../../process/attachment-store.ts';
import { checkSchema, findMissingRoles, SchemaOutdatedError } from '../../process/ensure-schema.ts';
import { findUnnormalizedTags } from '../../resources/assets/tag-check.ts';
import { findPartialExports, partialExport } from '../../resources/shared/partial-export.ts';
import { findHighSequences, highSequence } from '../../resources/tenants/high-sequences.ts';
import { findWrongTotals } from '../../resources/tickets/counters-check.ts';
import { serializeId } from '../../shared/serialize.ts';
import { findOldestDue, findOpenCircuits, findOverQuota } from '../../webhooks/outbox/pending.ts';
import { createSecretCipher } from '../../webhooks/secrets/secret-cipher.ts';
import { type KeyUse, readKeyUse, readSecretKeys } from '../../webhooks/secrets/secret-keys.ts';
import type { SubscriptionRef } from '../../webhooks/subscription-ref.ts';

/** The installation that `itsm doctor` checks. The database can be outdated or damaged. */
export interface Installation {
  settings: Settings;
  databases: Databases;
}

/**
 * The result of a check. A finding with the level `note` only informs the operator, but one with the level `wrong`
 * requires an action.
 */
export interface Finding {
  level: 'ok' | 'note' | 'wrong';
  message: string;
  /** How to solve the problem in `message`. */
  advice?: string;
  /** The finding as JSON objects, for the option `--json`. */
  details?: object[];
}

/** Maximum number of subscriptions that a finding lists. */
const maxListed = 10;

export interface Check {
  name: string;
  /** Whether `itsm doctor` skips the later checks if this check finds a problem. */
  essential?: boolean;
  check(installation: Installation): Promise<Finding | Finding[]>;
}

const ok = (message: string): Finding => ({ level: 'ok', message });
const note = (message: string, advice: string): Finding => ({ level: 'note', message, advice });
export const wrong = (message: string, advice: string): Finding => ({ level: 'wrong', message, advice });

/** All checks of `itsm doctor`, in the order in which they run. The checks don't change the database. */
export const checks: Check[] = [
  {
    name: 'listener',
    // The listener check is essential, because a pooler in transaction mode would also cause later checks to fail.
    essential: true,
    async check({ databases }) {
      try {
        await checkConnection(databases.options.url, databases.options.timeouts);
        return ok('PostgreSQL delivers notifications, for example about revoked keys and new deliveries.');
      } catch (error) {
        const advice =
          error instanceof PoolerError
            ? 'Servers do not start until the problem is solved.'
            : 'Check that PostgreSQL is running and accepts connections from this machine with the role of DATABASE_URL.';
        return wrong((error as Error).message, advice);
      }
    },
  },
  {
    name: 'PostgreSQL',
    async check({ databases }) {
      const { version, versionNumber, ignoresCase } = await readServerInfo(databases.options);
      const search = ignoresCase
        ? []
        : [note('Search distinguishes upper and lower case of letters outside ASCII, such as é and É.', caseAdvice)];
      const major = Math.floor(versionNumber / 10_000);
      if (major < minMajor) {
        return [
          wrong(
            `The version is ${version}.`,
            `Upgrade to version ${minMajor} or newer. The installed version no longer gets security updates.`,
          ),
          ...search,
        ];
      }
      if (major > maxMajor) {
        return [
          note(
            `The version is ${version}.`,
            `This version of the program is tested with PostgreSQL ${maxMajor} and earlier. Test before you use it in production.`,
          ),
          ...search,
        ];
      }
      return [ok(`The version is ${version}.`), ...search];
    },
  },
  {
    name: 'roles',
    essential: true,
    async check({ databases }) {
      const missing = await findMissingRoles(databases.options.url);
      if (missing.length === 0)
        return ok('The role of DATABASE_URL can use the roles for requests and for the system.');
      const statements = missing.map((statement) => `${statement};`).join(' ');
      return wrong(
        'The roles that isolate tenants are missing, or the role of DATABASE_URL is not a member of them.',
        `Run \`itsm migrate\`, or ask a PostgreSQL administrator to run: ${statements}`,
      );
    },
  },
  {
    name: 'migrations',
    essential: true,
    async check({ databases }) {
      try {
        const { ahead } = await checkSchema(databases.options.url);
        if (ahead.length === 0) return ok('The database is up to date.');
        return note(
          `The database is newer than this version of the program. A newer version has applied ${ahead.join(', ')}.`,
          'Update all processes to the newer version.',
        );
      } catch (error) {
        if (error instanceof SchemaOutdatedError) return wrong(error.summary, error.advice);
        throw error;
      }
    },
  },
  {
    name: 'row-level security',
    async check({ databases }) {
      try {
        await databases.requests.pool.lend(assertTenantIsolation);
        return ok(`Without a tenant, the role ${requestRole} can't read any rows.`);
      } catch (error) {
        if (error instanceof TenantIsolationError)
          return wrong(error.message, 'Servers do not start until the problem is solved.');
        throw error;
      }
    },
  },
  {
    name: 'data files',
    async check({ databases }) {
      const damage = await findDamage(databases.system.pool);
      if (damage === undefined) return ok('PostgreSQL has not reported damaged pages.');
      return wrong(damage, 'See docs/operations/monitor-and-repair.md, "When data files are damaged".');
    },
  },
  {
    name: 'WEBHOOK_SECRET_KEY',
    async check({ settings, databases }) {
      const use = await readKeyUse(databases.system.prisma, createSecretCipher(await readSecretKeys(settings)));
      return use.map((key) => ({ ...toFinding(key), details: [key] }));
    },
  },
  {
    name: 'Redis',
    async check({ settings: { RATE_LIMIT_STORE, REDIS_URL } }) {
      if (RATE_LIMIT_STORE !== 'redis' || REDIS_URL === undefined) {
        return ok('Redis is not configured. Each process counts rate limits on its own.');
      }
      // Imports the Redis client only if Redis is configured, because the client is 8 MB.
      const { openRedisCounter } = await import('../../http/rate-limit/redis-windows.ts');
      let reason = '';
      const onUnavailable = (error: string) => {
        reason = error;
      };
      const redis = await openRedisCounter({ url: REDIS_URL, onUnavailable, onAvailable: () => undefined });
      redis.close();
      if (!redis.server) {
        return wrong(
          `Redis can't count rate limits: ${reason}`,
          'See docs/operations/monitor-and-repair.md, "When Redis is away". Until Redis is available, each process counts on its own.',
        );
      }
      const [server, version = ''] = redis.server.split(' ');
      if (server === 'redis' && Number.parseInt(version, 10) < minRedisMajor) {
        return wrong(`The version is ${version}.`, `Upgrade to Redis ${minRedisMajor} or newer, or switch to Valkey.`);
      }
      return ok(`Redis is available: ${redis.server}.`);
    },
  },
  {
    name: 'clock',
    async check({ databases }) {
      const { clockAheadMs } = await readServerInfo(databases.options);
      const seconds = Math.abs(clockAheadMs / 1000).toFixed(1);
      const message = `The clock of this machine is ${seconds} s ${clockAheadMs < 0 ? 'behind' : 'ahead of'} the clock of the database.`;
      if (Math.abs(clockAheadMs) <= clockToleranceMs) return ok(message);
      return wrong(
        message,
        'Synchronize both clocks with NTP. The clock of this machine determines the expiry of keys and the timestamps of ' +
          'webhook signatures, and receivers reject timestamps that are minutes off.',
      );
    },
  },
  {
    name: 'deliveries',
    async check({ databases }) {
      const oldest = await findOldestDue(databases.system.prisma);
      if (oldest === undefined) return ok('No deliveries are due.');
      const { tenantId, subscriptionId, seconds } = oldest;
      const message = `The oldest due delivery, to subscription ${subscriptionId} of tenant ${tenantId}, has been due for ${Math.round(seconds)} s.`;
      if (seconds <= dueToleranceSeconds) return ok(message);
      return wrong(
        message,
        'Check that a process with ROLES=worker is running, and read its log. If one is running, it is overloaded or the ' +
          `endpoint is slow: run \`itsm deliveries list --tenant ${tenantId} --subscription ${subscriptionId}\`.`,
      );
    },
  },
  {
    name: 'circuits',
    async check({ databases }) {
      const open = await findOpenCircuits(databases.system.prisma);
      if (open.length === 0) return ok('No circuits are open.');
      const count =
        open.length === 1 ? '1 subscription has an open circuit' : `${open.length} subscriptions have open circuits`;
      const advice = 'To see the reason and the next attempt, run `itsm webhooks show <id> --tenant <tenant>`.';
      return note(`${count}: ${formatList(open)}.`, advice);
    },
  },
  {
    name: 'quota',
    async check({ databases }) {
      const overQuota = await findOverQuota(databases.system.prisma);
      if (overQuota.length === 0) return ok('No subscription has reached WEBHOOK_MAX_PENDING_DELIVERIES.');
      const message = `WEBHOOK_MAX_PENDING_DELIVERIES prevents new deliveries for ${formatList(overQuota)}.`;
      return wrong(
        message,
        'See docs/operations/monitor-and-repair.md, "A workspace has too many pending deliveries".',
      );
    },
  },
  {
    name: 'attachments',
    async check({ settings, databases }) {
      let store: Store;
      try {
        store = await findStore(databases.system.prisma, settings);
        checkStore(store);
        const { storage, directory, found } = store;
        // If `doctor` runs as another user, a test write would create a folder that the server can't use. In a new
        // directory, checks only the permissions.
        if (found !== undefined || directory === undefined) {
          await storage.delete(await storage.writeTemporary(Readable.from([]), 0));
        } else await access(existingPartOf(directory), constants.W_OK);
      } catch (error) {
        if (error instanceof StoreMismatchError) return wrong(error.message, storeAdvice);
        const { message, cause } = error as Error;
        const reason = cause instanceof Error ? cause.message : message;
        const name = attachmentsDirectory(settings) ?? `the bucket ${settings.ATTACHMENTS_S3_BUCKET}`;
        return wrong(`Attachments can't be stored in ${name}: ${reason}`, storeAdvice);
      }
      const { directory, notice } = store;
      const notices = notice === undefined ? [] : [note(notice, 'To choose another folder, set ATTACHMENTS_DIR.')];
      if (directory === undefined) {
        return ok(`Attachments can be stored in the bucket ${settings.ATTACHMENTS_S3_BUCKET}.`);
      }
      const { bavail, bsize } = await statfs(existingPartOf(directory));
      const message = `Attachments can be stored in ${directory}: ${Math.floor((bavail * bsize) / 2 ** 20)} MiB are free.`;
      if (bavail * bsize >= minFreeBytes) return [ok(message), ...notices];
      return [wrong(message, 'Make the file system of this folder larger, or delete attachments.'), ...notices];
    },
  },
  {
    name: 'exports',
    async check({ databases }) {
      const found = await findPartialExports(databases.system.pool);
      if (found.length === 0) return ok('No temporary file of an export exists on this machine.');
      return found.map((path) => note(partialExport.message(path), partialExport.advice));
    },
  },
  {
    name: 'sequences',
    async check({ databases }) {
      const found = await findHighSequences(databases.system.pool);
      if (found.length === 0) return ok('No sequence of ids is above 2^48.');
      return found.map((sequence) => wrong(highSequence.message(sequence), highSequence.advice));
    },
  },
  {
    name: 'asset tags',
    async check({ databases }) {
      const found = await findUnnormalizedTags(databases.options, maxTags + 1);
      if (found.length === 0) return ok('All asset tags are normalized.');
      const advice = 'See docs/operations/monitor-and-repair.md, "When two asset tags look the same".';
      const notes = found.slice(0, maxTags).map(({ tenantId, assetId, assetTag, otherId }) => ({
        ...note(
          `Tenant ${tenantId}: the tag of the asset ${assetId} ` +
            (otherId === null ? 'is not normalized.' : `looks like the tag of the asset ${otherId}: ${assetTag}.`),
          advice,
        ),
        details: [{ tenantId: serializeId(tenantId), assetId, assetTag, otherId }],
      }));
      const more = 'More assets have such tags. Correct the listed tags, then run `itsm doctor` again.';
      return found.length > maxTags ? [...notes, note(more, advice)] : notes;
    },
  },
  {
    name: 'totals',
    async check({ databases }) {
      const found = await findWrongTotals(databases.options);
      if (found.length === 0) return ok('All stored totals are correct.');
      return found.map(({ tenantId, ...total }) => ({
        ...wrong(
          `Tenant ${tenantId}: ${total.what}: stored ${total.kept}, counted ${total.counted}.`,
          'See docs/operations/monitor-and-repair.md, "When a total is wrong".',
        ),
        details: [{ tenantId: serializeId(tenantId), ...total }],
      }));
    },
  },
];

/** The maximum number of assets that the check of the tags lists. */
const maxTags = 100;

/** The oldest PostgreSQL version that still receives updates, and the newest version that the tests cover. */
const minMajor = 15;
const maxMajor = 18;

const minRedisMajor = 7;

/** The minimum free space of the folder for attachments. */
const minFreeBytes = 2 ** 30;
const storeAdvice =
  'Until the problem is solved, uploads and downloads get 503. See docs/operations/install-and-upgrade.md, "Store attachments".';

/** Returns the path, or its first parent that exists. */
function existingPartOf(path: string): string {
  return existsSync(path) ? path : existingPartOf(dirname(path));
}

const clockToleranceMs = 2000;
/**
 * How many seconds a delivery may be overdue before the check reports it. Workers poll for due deliveries every second.
 */
const dueToleranceSeconds = 60;

/** Formats the first `maxListed` subscriptions for a finding. */
function formatList(subscriptions: SubscriptionRef[]): string {
  const named = subscriptions
    .slice(0, maxListed)
    .map(({ tenantId, subscriptionId }) => `subscription ${subscriptionId} of tenant ${tenantId}`);
  return `${named.join(', ')}${subscriptions.length > maxListed ? ' and others' : ''}`;
}

function toFinding({ position, keyId, secrets, active }: KeyUse): Finding {
  if (position === 1) return ok(`Key 1 encrypts ${secrets} webhook secrets.`);
  if (position === null) {
    const message = `The key ${keyId} encrypts ${secrets} webhook secrets, ${active} of them for active subscriptions, but it is not in WEBHOOK_SECRET_KEY.`;
    if (active === 0) return note(message, 'No action is required, because inactive subscriptions have no deliveries.');
    return wrong(
      message,
      'Add the key to WEBHOOK_SECRET_KEY after the first one. Without it, servers do not start, and these subscriptions get no ' +
        'deliveries.',
    );
  }
  if (secrets === 0) {
    return note(
      `Key ${position} encrypts no webhook secrets.`,
      'Remove it after every server has been restarted with the first key before it.',
    );
  }
  return note(
    `Key ${position} still encrypts ${secrets} webhook secrets.`,
    'Run `itsm secrets re-encrypt`. Keep the key until then.',
  );
}
