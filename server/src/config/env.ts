import { join, resolve } from 'node:path';
import { attachmentLimits, maxPendingDeliveries, rateLimits } from '@itsm-api/contract';
import * as z from 'zod';
import { isNetwork } from './is-network.ts';
import './validation-messages.ts';

const numberBetween = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min).max(max));

const wholeNumber = (min: number, max: number, fallback: number) => numberBetween(min, max).default(fallback);

const commaSeparated = (isValid: (value: string) => boolean, message: string) =>
  z
    .string()
    .default('')
    .transform((value) => value.split(',').map((each) => each.trim()))
    .transform((values) => values.filter((value) => value !== ''))
    .refine((values) => values.every(isValid), message);

/** The names that `TRUST_PROXY` accepts for several networks. */
const proxyNetworks = new Map([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['uniquelocal', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
]);

/**
 * The schema of all settings. Only this file parses settings from environment variables. An empty variable counts as
 * not set. `pnpm generate` creates `.env.example` from this schema.
 */
export const Settings = z.object({
  PORT: wholeNumber(0, 65_535, 3000).describe('The port to listen on. 0 selects a free port.'),
  HOST: z.string().default('127.0.0.1').describe('The address to listen on. 0.0.0.0 listens on all addresses.'),
  PUBLIC_URL: z
    .string()
    .refine((value) => isOrigin(value) && /^https?:/.test(value), 'must be an origin such as https://itsm.example.com')
    .optional()
    .describe(
      'The public origin of this server, such as https://itsm.example.com. The developer area and its passkeys work only at this origin. Default: http://localhost and the port.',
    ),
  SECURITY_CONTACT: commaSeparated(
    (value) => /^(mailto:|tel:|https:\/\/)\S+$/.test(value) && URL.canParse(value),
    'must be addresses such as mailto:security@example.com or https://example.com/security, separated by commas',
  ).describe(
    'Where to report a vulnerability: mailto:, tel: or https: addresses, separated by commas. The server publishes them in /.well-known/security.txt.',
  ),
  OPERATIONS_PORT: numberBetween(0, 65_535)
    .optional()
    .describe(
      'The port for health checks and metrics (docs/operations/monitor-and-repair.md). 0 selects a free port. Off if empty.',
    ),
  OPERATIONS_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('The address for OPERATIONS_PORT. The port has no authentication, so allow only operators to reach it.'),
  DRAIN_SECONDS: wholeNumber(0, 3600, 5).describe(
    'The number of seconds that the server still handles requests after SIGTERM, so that the load balancer can detect that the server is not ready.',
  ),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a URL such as postgresql://user:password@host:5432/database' })
    .optional()
    .describe('The PostgreSQL database. If empty, the server starts an embedded PostgreSQL in DATA_DIR.'),
  CELL: wholeNumber(0, 999, 0).describe(
    'The number of this cell, if you run several cells (docs/operations/cells.md). It makes tenant ids unique across all cells.',
  ),
  DATABASE_POOL_SIZE: wholeNumber(1, 1000, 20).describe(
    'Maximum PostgreSQL connections for requests. A process needs more in total (docs/operations/install-and-upgrade.md, "Connection budget").',
  ),
  STATEMENT_TIMEOUT_MS: wholeNumber(1, 600_000, 10_000).describe(
    'Maximum duration of a statement in milliseconds. PostgreSQL cancels longer statements.',
  ),
  LOCK_TIMEOUT_MS: wholeNumber(1, 600_000, 5000).describe(
    'Maximum time in milliseconds that a statement waits for a lock. After this time, PostgreSQL cancels the statement.',
  ),
  TENANT_CONCURRENCY_SHARE: z
    .string()
    .regex(/^(0?\.\d+|1(\.0+)?)$/, 'must be a number above 0 and at most 1, such as 0.25')
    .transform(Number)
    .pipe(z.number().positive())
    .prefault('0.25')
    .describe('Maximum share of DATABASE_POOL_SIZE that concurrent requests of one tenant use.'),
  TENANT_CONCURRENCY_WORK_MS: wholeNumber(1, 600_000, 100).describe(
    'Maximum milliseconds of concurrent work per tenant, estimated from the duration of its recent requests. One request may always run.',
  ),
  TENANT_CONCURRENCY_QUEUE: wholeNumber(0, 1_000_000, 100).describe('Maximum queued requests per tenant.'),
  TENANT_CONCURRENCY_WAIT_MS: wholeNumber(1, 600_000, 5000).describe(
    'Maximum milliseconds that a request waits in the queue of its tenant.',
  ),
  TENANT_UNREAD_BYTES: wholeNumber(0, 2 ** 40, 64 * 2 ** 20).describe(
    'Maximum response bytes per tenant that its clients have not read yet.',
  ),
  DATA_DIR: z
    .string()
    .default('.data')
    .describe('The folder of the embedded PostgreSQL, its password, and the key that encrypts signing secrets.'),
  ATTACHMENTS_DIR: z
    .string()
    .optional()
    .describe(
      'The folder of attachments (docs/operations/install-and-upgrade.md, "Store attachments"). All processes need the same folder. Default: the folder attachments in DATA_DIR.',
    ),
  ATTACHMENTS_S3_BUCKET: z
    .string()
    .optional()
    .describe(
      'The S3 bucket of attachments, instead of a folder. S3 needs packages that are not installed by default.',
    ),
  ATTACHMENTS_S3_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be a URL such as https://s3.example.com' })
    .optional()
    .describe('The address of an S3-compatible store. Default: Amazon S3.'),
  ATTACHMENTS_S3_REGION: z.string().default('us-east-1').describe('The region of the bucket.'),
  ATTACHMENTS_S3_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe(
      'The access key for the bucket. Default: the default credentials of the AWS SDK, such as the role of the machine.',
    ),
  ATTACHMENTS_S3_SECRET_ACCESS_KEY: z
    .string()
    .optional()
    .describe('The secret that belongs to ATTACHMENTS_S3_ACCESS_KEY_ID.'),
  ATTACHMENTS_MAX_BYTES: wholeNumber(1, 5 * 2 ** 30, attachmentLimits.maxBytes).describe(
    'Maximum size of an attachment in bytes.',
  ),
  ATTACHMENTS_QUOTA_BYTES: wholeNumber(0, Number.MAX_SAFE_INTEGER, attachmentLimits.maxWorkspaceBytes).describe(
    'Maximum bytes of all attachments of a workspace.',
  ),
  DOWNLOAD_IDLE_SECONDS: wholeNumber(1, 900, 180).describe(
    'The number of seconds after which a download ends if its client reads nothing (docs/guides/attachments.md).',
  ),
  ROLES: commaSeparated((role) => role === 'api' || role === 'worker', 'must be api, worker or api,worker')
    .refine((roles) => roles.length > 0, 'must be api, worker or api,worker')
    .prefault('api,worker')
    .describe('What this process does: api handles requests, worker delivers webhooks.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('The log level: fatal, error, warn, info, debug, trace or silent.'),
  RATE_LIMIT_GLOBAL: wholeNumber(1, 1_000_000_000, rateLimits.global).describe(
    'Maximum requests per API key and window.',
  ),
  RATE_LIMIT_GROUP: wholeNumber(1, 1_000_000_000, rateLimits.group).describe(
    'Maximum requests per API key, window and endpoint group.',
  ),
  RATE_LIMIT_PAGES: wholeNumber(1, 1_000_000_000, 120).describe(
    'Maximum requests to the developer area per session and minute, in each process.',
  ),
  RATE_LIMIT_WINDOW_SECONDS: wholeNumber(1, 86_400, rateLimits.windowSeconds).describe(
    'The length of a rate limit window in seconds.',
  ),
  RATE_LIMIT_FAILURES: wholeNumber(1, 1_000_000_000, 60).describe(
    'Maximum failed authentications per client address and minute. Above this limit, requests with unknown keys get 429.',
  ),
  RATE_LIMIT_STORE: z
    .enum(['memory', 'redis'])
    .default('memory')
    .describe('Where rate limits are counted: memory (per process) or redis (shared by all processes).'),
  REDIS_URL: z
    .string()
    .refine(isRedisUrl, 'must be a URL such as redis://user:password@host:6379/0, or rediss:// for TLS')
    .optional()
    .describe(
      'The Redis or Valkey for RATE_LIMIT_STORE=redis. Each installation needs its own server or database number.',
    ),
  REQUEST_LOG_SUCCESSES: wholeNumber(0, 1000, 60).describe(
    'Maximum successful requests per tenant and minute that the request log keeps. Others are only counted.',
  ),
  REQUEST_LOG_ERRORS: wholeNumber(0, 1000, 120).describe(
    'Maximum failed requests per tenant and minute that the request log keeps. Others are only counted.',
  ),
  REQUEST_LOG_DAYS: wholeNumber(1, 30, 7).describe(
    'The number of days that the request log keeps requests. Workers delete older requests.',
  ),
  CORS_ORIGINS: commaSeparated(
    isOrigin,
    'must be origins such as https://app.example.com, separated by commas',
  ).describe('Origins whose pages may call the API from a browser (CORS), separated by commas.'),
  TRUST_PROXY: commaSeparated(
    (value) => proxyNetworks.has(value) || isNetwork(value),
    'must be addresses or networks such as 10.0.0.0/8, or loopback',
  )
    .transform((values) => values.flatMap((value) => proxyNetworks.get(value) ?? [value]))
    .describe('Proxies whose X-Forwarded-For header is trusted: addresses, networks or loopback, separated by commas.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .string()
    .optional()
    .describe(
      'The OpenTelemetry collector for traces, such as http://127.0.0.1:4318 (docs/operations/monitor-and-repair.md). Off if empty. The other OTEL_* variables work as OpenTelemetry documents them.',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z
    .string()
    .optional()
    .describe(
      'Overrides OTEL_EXPORTER_OTLP_ENDPOINT for traces: a complete URL with its path, such as http://127.0.0.1:4318/v1/traces.',
    ),
  OTEL_TRACES_EXPORTER: z
    .string()
    .optional()
    .describe('otlp sends traces, by default to this machine. console prints traces. none turns traces off.'),
  OTEL_SDK_DISABLED: z
    .string()
    .default('false')
    .transform((value) => value.toLowerCase() === 'true')
    .describe('true turns traces off, regardless of the other OTEL_* variables.'),
  AUDIT_RETENTION_DAYS: wholeNumber(1, 36_500, 400).describe('How many days the audit log keeps its entries.'),
  WEBHOOK_SECRET_KEY: commaSeparated(
    isEncryptionKey,
    'must be 32 bytes in base64 (`openssl rand -base64 32`)',
  ).describe(
    'The key that encrypts the signing secrets of webhooks: 32 bytes in base64. Required with DATABASE_URL. To rotate it, see docs/operations/install-and-upgrade.md.',
  ),
  WEBHOOK_ALLOW_PRIVATE_TARGETS: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .describe(
      'Allows http URLs and private addresses for webhooks. Default: true only if HOST is loopback, PUBLIC_URL is empty or loopback, and DATABASE_URL and TRUST_PROXY are empty.',
    ),
  WEBHOOK_MAX_PENDING_DELIVERIES: wholeNumber(1, 1_000_000_000, maxPendingDeliveries).describe(
    'Maximum pending deliveries per tenant. At the limit, the subscription with the most pending deliveries gets no new deliveries.',
  ),
  WEBHOOK_HOST_CONCURRENCY: wholeNumber(1, 1024, 32).describe(
    'Maximum concurrent webhook requests to one host, per tenant and worker.',
  ),
  WEBHOOK_HOST_PER_SECOND: wholeNumber(1, 1_000_000, 500).describe(
    'Maximum webhook requests per second to one host, per tenant and worker.',
  ),
  WEBHOOK_BLOCKED_NETWORKS: commaSeparated(
    isNetwork,
    'must be networks such as 203.0.113.0/24 or 2001:db8::/32, separated by commas',
  ).describe(
    'Networks to which webhooks are never sent, separated by commas. Link-local and metadata addresses are always rejected.',
  ),
});

export type Settings = z.output<typeof Settings>;

/**
 * The error for invalid settings. The message has one line for each problem. Each line starts with a setting name,
 * `.env` or `OTEL_*`.
 */
export class SettingsError extends Error {
  override name = 'SettingsError';
}

/** Parses the settings. @throws SettingsError with one line for each invalid setting */
export function readSettings(env: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const result = Settings.safeParse(given);
  if (!result.success) {
    throw new SettingsError(
      result.error.issues.map((issue) => `${issue.path[0]?.toString()}: ${issue.message}`).join('\n'),
    );
  }
  if (result.data.DATABASE_URL !== undefined && result.data.WEBHOOK_SECRET_KEY.length === 0) {
    throw new SettingsError(
      'WEBHOOK_SECRET_KEY: is required with DATABASE_URL. Set it to 32 bytes in base64, such as the output of `openssl rand -base64 32`',
    );
  }
  if (result.data.RATE_LIMIT_STORE === 'redis' && result.data.REDIS_URL === undefined) {
    throw new SettingsError(
      'REDIS_URL: is required with RATE_LIMIT_STORE=redis. Set it to a URL such as redis://user:password@host:6379',
    );
  }
  if (
    (result.data.ATTACHMENTS_S3_ACCESS_KEY_ID === undefined) !==
    (result.data.ATTACHMENTS_S3_SECRET_ACCESS_KEY === undefined)
  ) {
    throw new SettingsError(
      'ATTACHMENTS_S3_SECRET_ACCESS_KEY: must be set together with ATTACHMENTS_S3_ACCESS_KEY_ID. Set both or none',
    );
  }
  // If traces are off, doesn't validate the collector variables, because they may be set for other programs.
  if (asksForTraces(result.data)) assertCollector(result.data);
  return result.data;
}

/** Returns the absolute path of the folder of attachments, or undefined if the settings describe an S3 bucket. */
export function attachmentsDirectory({
  ATTACHMENTS_S3_BUCKET,
  ATTACHMENTS_DIR,
  DATA_DIR,
}: Settings): string | undefined {
  return ATTACHMENTS_S3_BUCKET === undefined ? resolve(ATTACHMENTS_DIR ?? join(DATA_DIR, 'attachments')) : undefined;
}

/** Returns the maximum number of bytes of an attachment, and of all attachments of a workspace. */
export function readAttachmentLimits(settings: Settings): { maxBytes: number; quotaBytes: number } {
  return { maxBytes: settings.ATTACHMENTS_MAX_BYTES, quotaBytes: settings.ATTACHMENTS_QUOTA_BYTES };
}

/** Returns true if the OTEL_* variables turn traces on. The process loads OpenTelemetry only if traces are on. */
export function asksForTraces(settings: Settings): boolean {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER } = settings;
  if (OTEL_SDK_DISABLED) return false;
  if (OTEL_TRACES_EXPORTER !== undefined)
    return !OTEL_TRACES_EXPORTER.split(',').some((each) => each.trim() === 'none');
  return (settings.OTEL_EXPORTER_OTLP_ENDPOINT ?? settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) !== undefined;
}

function assertCollector(settings: Settings): void {
  for (const name of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const) {
    const value = settings[name];
    if (value !== undefined && !/^https?:$/.test(URL.parse(value)?.protocol ?? '')) {
      throw new SettingsError(`${name}: must be a URL such as http://collector.example.com:4318`);
    }
  }
}

function isRedisUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(value);
  const isEscaped = [username, password].every((each) => !/%(?![\da-f]{2})/i.test(each));
  return /^rediss?:$/.test(protocol) && hostname !== '' && isEscaped && /^\/?\d{0,4}$/.test(pathname + search + hash);
}

function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}

/** Returns true if the value is a valid key for `WEBHOOK_SECRET_KEY`: 32 bytes in base64. */
export function isEncryptionKey(value: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(value);
}

/** Returns the content of `.env.example`, which lists every setting with its description and default in comments. */
export function envExample(): string {
  const settings = Object.entries(Settings.shape).map(([name, schema]) => {
    const fallback = schema.safeParse(undefined).data ?? '';
    return `# ${schema.description}\n#${name}=${String(fallback)}\n`;
  });
  return `# Generated from server/src/config/env.ts by \`pnpm generate\`. Copy it to .env, which git ignores. The server and itsm\n# load it. To set a value, remove the # before it. Environment variables take precedence.\n\n${settings.join('\n')}`;
}
