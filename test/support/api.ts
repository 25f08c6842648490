import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ErrorEnvelope } from '@itsm-api/contract';
import { buildApp } from '@itsm-api/server/app.ts';
import { readAttachmentLimits, readSettings } from '@itsm-api/server/config/env.ts';
import { type Databases, openDatabases } from '@itsm-api/server/database/client/databases.ts';
import { Pool } from '@itsm-api/server/database/client/pool.ts';
import { type Database, openDatabase, systemClient } from '@itsm-api/server/database/client/prisma.ts';
import { openJobs } from '@itsm-api/server/database/jobs/job-queue.ts';
import { createLogger } from '@itsm-api/server/http/logging/logger.ts';
import type { Metrics } from '@itsm-api/server/operations/metrics/metrics.ts';
import type { Services } from '@itsm-api/server/resources/shared/context.ts';
import { openAttachmentStorage } from '@itsm-api/server/storage/attachment-storage.ts';
import { createRequestRecorder, type RequestRecorder } from '@itsm-api/server/usage/request-recorder.ts';
import { createUsageRecorder, type UsageRecorder } from '@itsm-api/server/usage/usage-recorder.ts';
import { createTargetPolicy, readHostLimits } from '@itsm-api/server/webhooks/delivery/target.ts';
import { createWaker, openDispatchJobs } from '@itsm-api/server/webhooks/outbox/dispatch-jobs.ts';
import { createSecretCipher } from '@itsm-api/server/webhooks/secrets/secret-cipher.ts';
import type { FastifyInstance } from 'fastify';
import type { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { cloneDatabase, workerDatabaseUrl } from './database.ts';
import { recordExchange } from './exchanges.ts';
import { type RawClient, rawClient } from './raw-client.ts';

export interface ApiOptions {
  /** The server's environment variables. By default, the rate limits are too high for tests to reach. */
  env?: Record<string, string>;
  databaseUrl?: string;
  /**
   * Whether the API has its own database. Tests with a worker need their own database, because a worker runs all due
   * work in its database.
   */
  ownDatabase?: boolean;
  /** The encryption keys for webhook secrets. By default, a random key. */
  secretKeys?: string[];
  now?: () => Date;
  /** The clock for rate limits, in milliseconds. */
  clock?: () => number;
  /** The server's logger. By default, the server discards its log lines. */
  logger?: Logger;
  /** The metrics that the server updates. */
  metrics?: Metrics;
}

export interface Call {
  method: string;
  /** The path of the request, including the query string. */
  path: string;
  key?: string | undefined;
  headers?: Record<string, string>;
  /** The body of the request. `call` sends objects as JSON, and strings and bytes unchanged. */
  body?: unknown;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The body parsed as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they expect, and fail if a field is missing
  body: any;
}

/** A running API. Tests call the API without a network connection. */
export interface Api {
  databaseUrl: string;
  boss: PgBoss;
  app: FastifyInstance;
  databases: Databases;
  /** A connection as the table owner. Tests use it to create and inspect rows without row-level security. */
  owner: Database;
  prisma: RawClient;
  services: Services;
  usage: UsageRecorder;
  requestLog: RequestRecorder;
  call(call: Call): Promise<Answer>;
  close(): Promise<void>;
}

/** Starts an API in the test process. By default, the API uses the database of the Vitest worker. */
export async function startApi({
  env = {},
  databaseUrl,
  ownDatabase = false,
  secretKeys = [randomBytes(32).toString('base64')],
  now = () => new Date(),
  clock,
  logger,
  metrics,
}: ApiOptions = {}): Promise<Api> {
  const own = ownDatabase ? await cloneDatabase() : undefined;
  const url = databaseUrl ?? own?.url ?? (await workerDatabaseUrl());
  const settings = readSettings({
    RATE_LIMIT_GLOBAL: '1000000',
    RATE_LIMIT_GROUP: '1000000',
    RATE_LIMIT_PAGES: '1000000',
    RATE_LIMIT_FAILURES: '1000000',
    LOG_LEVEL: 'silent',
    DATABASE_POOL_SIZE: '8',
    TENANT_CONCURRENCY_SHARE: '1',
    // On a busy machine, a test that holds a lock can take longer than the default.
    LOCK_TIMEOUT_MS: '60000',
    STATEMENT_TIMEOUT_MS: '60000',
    ATTACHMENTS_DIR: join(tmpdir(), `itsm-test-attachments-${process.pid}`),
    ...env,
  });
  const timeouts = { statementMs: settings.STATEMENT_TIMEOUT_MS, lockMs: settings.LOCK_TIMEOUT_MS };
  const onConnectionError = () => undefined;
  const databases = openDatabases({
    url,
    requestConnections: settings.DATABASE_POOL_SIZE,
    timeouts,
    worker: false,
    onConnectionError,
  });
  const ownerOptions = {
    connectionString: url,
    application_name: 'itsm-api test',
    max: 5,
    timeouts,
    watchdog: databases.options.watchdog,
    onConnectionError,
  };
  const owner = openDatabase(new Pool(ownerOptions), ownerOptions);
  const prisma = rawClient(systemClient(owner));
  const boss = await openJobs({ pool: databases.system.pool, worker: false, onError: () => undefined });
  const waker = createWaker(databases.system.prisma);
  const services: Services = {
    now,
    dispatchJobs: openDispatchJobs(async () => boss),
    wakeWorkers: waker.wake,
    secretCipher: createSecretCipher(secretKeys),
    targets: createTargetPolicy({
      allowPrivate: settings.WEBHOOK_ALLOW_PRIVATE_TARGETS ?? false,
      blockedNetworks: settings.WEBHOOK_BLOCKED_NETWORKS,
    }),
    hostLimits: readHostLimits(settings),
    storage: await openAttachmentStorage(settings),
    attachmentLimits: readAttachmentLimits(settings),
    publicUrl: settings.PUBLIC_URL,
  };
  const log = logger ?? createLogger('silent');
  const usage = createUsageRecorder({ databases, now, logger: log });
  const limits = { successes: settings.REQUEST_LOG_SUCCESSES, errors: settings.REQUEST_LOG_ERRORS };
  const requestLog = createRequestRecorder({ databases, now, logger: log, limits });
  const app = await buildApp({
    databases,
    services,
    logger: log,
    settings,
    metrics,
    usage,
    requestLog,
    ...(clock && { clock }),
  });
  await app.ready();

  return {
    databaseUrl: url,
    boss,
    app,
    databases,
    owner,
    prisma,
    services,
    usage,
    requestLog,
    async call({ method, path, key, headers = {}, body }) {
      const raw = typeof body === 'string' || body instanceof Uint8Array;
      const sent = {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      };
      const response = await app.inject({
        method: method as 'GET',
        url: path,
        headers: sent,
        ...(body !== undefined && { payload: raw ? Buffer.from(body) : JSON.stringify(body) }),
      });
      const { statusCode: status, body: text, headers: responseHeaders } = response;
      recordExchange({ method, path, headers: sent, body, status, responseHeaders, text });
      return { status, text, headers: responseHeaders as Record<string, string>, body: parse(text) };
    },
    async close() {
      await app.close();
      await waker.close();
      await boss.stop();
      await prisma.$disconnect();
      await databases.close();
      await own?.drop();
    },
  };
}

/** Converts a fetch response to an `Answer`. */
export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), text, body: parse(text) };
}

/**
 * Returns the `error` of a response.
 * @throws if the response has no error
 */
export function errorOf({ body }: Answer): ErrorEnvelope['error'] {
  if (body?.success !== false) throw new Error(`Not an error: ${JSON.stringify(body)}`);
  return body.error;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
