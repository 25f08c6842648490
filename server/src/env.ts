import { isIP } from 'node:net';
import { maxPendingDeliveries, rateLimits } from '@itsm-api/contract';
import * as z from 'zod';

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

/**
 * Every setting, read from the environment here and nowhere else. An empty value counts as absent.
 * `.env.example` is generated from this schema.
 */
export const Settings = z.object({
  PORT: wholeNumber(0, 65_535, 3000).describe('The port to listen on; 0 takes a free one.'),
  HOST: z.string().default('127.0.0.1').describe('The address to listen on; 0.0.0.0 for all.'),
  PUBLIC_URL: z
    .string()
    .refine((value) => isOrigin(value) && /^https?:/.test(value), 'must be an origin such as https://itsm.example.com')
    .optional()
    .describe(
      'Where browsers find this server, such as https://itsm.example.com: the developer area and its passkeys are for this address. Without it they are for http://localhost.',
    ),
  OPERATIONS_PORT: numberBetween(0, 65_535)
    .optional()
    .describe('Where operators ask how this process is (docs/operations.md); 0 takes a free port. Off without it.'),
  OPERATIONS_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('The address for OPERATIONS_PORT: one that only operators reach.'),
  DRAIN_SECONDS: wholeNumber(0, 3600, 5).describe(
    'After SIGTERM: how long requests are still served while the balancer takes note that this process is not ready.',
  ),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be like postgresql://user:password@host:5432/database' })
    .optional()
    .describe('The PostgreSQL server to use. Without it, PostgreSQL is started under DATA_DIR.'),
  CELL: wholeNumber(0, 999, 0).describe(
    'Which cell this database is, where there are several: the ids of its tenants begin with it (docs/operations.md).',
  ),
  DATABASE_POOL_SIZE: wholeNumber(1, 1000, 20).describe(
    'Connections to PostgreSQL at most that requests use; start prints how many a process needs in all.',
  ),
  STATEMENT_TIMEOUT_MS: wholeNumber(1, 600_000, 10_000).describe('A statement that takes longer is ended.'),
  LOCK_TIMEOUT_MS: wholeNumber(1, 600_000, 5000).describe('A statement that waits longer for a lock is ended.'),
  FAIR_USE_SHARE: z
    .string()
    .regex(/^(0?\.\d+|1(\.0+)?)$/, 'must be a part such as 0.25, or 1')
    .transform(Number)
    .pipe(z.number().positive())
    .prefault('0.25')
    .describe('The part of DATABASE_POOL_SIZE that the requests of one tenant may use at once.'),
  FAIR_USE_WORK_MS: wholeNumber(1, 600_000, 100).describe(
    'How much work of one tenant may be under way at once, by how long its requests take; one request always may. Milliseconds.',
  ),
  FAIR_USE_QUEUE: wholeNumber(0, 1_000_000, 100).describe('Requests of one tenant that may wait for their turn.'),
  FAIR_USE_WAIT_MS: wholeNumber(1, 600_000, 5000).describe('How long a request may wait for its turn.'),
  FAIR_USE_UNREAD_BYTES: wholeNumber(0, 2 ** 40, 64 * 2 ** 20).describe(
    "How much of one tenant's answers may wait to be read by its clients. Bytes.",
  ),
  DATA_DIR: z.string().default('.data').describe('Where the embedded PostgreSQL and the keys it needs are kept.'),
  ROLES: commaSeparated((role) => role === 'api' || role === 'worker', 'must be api, worker or api,worker')
    .refine((roles) => roles.length > 0, 'must be api, worker or api,worker')
    .prefault('api,worker')
    .describe('What this process does: api answers requests, worker delivers webhooks.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('How much is logged: fatal, error, warn, info, debug, trace or silent.'),
  RATE_LIMIT_GLOBAL: wholeNumber(1, 1_000_000_000, rateLimits.global).describe('Requests per key and window.'),
  RATE_LIMIT_GROUP: wholeNumber(1, 1_000_000_000, rateLimits.group).describe(
    'Requests per key, window and endpoint group.',
  ),
  RATE_LIMIT_PAGES: wholeNumber(1, 1_000_000_000, 120).describe(
    'Requests to the developer area per session and minute, in each process.',
  ),
  RATE_LIMIT_WINDOW_SECONDS: wholeNumber(1, 86_400, rateLimits.windowSeconds).describe('The length of a window.'),
  RATE_LIMIT_FAILURES: wholeNumber(1, 1_000_000_000, 60).describe(
    'Failed authentications per client address and minute, after which unknown keys get 429.',
  ),
  RATE_LIMIT_STORE: z
    .enum(['memory', 'redis'])
    .default('memory')
    .describe('Where the limits are counted: memory, each process by itself, or redis, all processes together.'),
  REDIS_URL: z
    .string()
    .refine(isRedisUrl, 'must be like redis://user:password@host:6379/0, or rediss:// for TLS')
    .optional()
    .describe('The Redis or Valkey that RATE_LIMIT_STORE=redis needs. One per installation, or a database number.'),
  CORS_ORIGINS: commaSeparated(
    isOrigin,
    'must be origins such as https://app.example.com, separated by commas',
  ).describe('Origins whose pages may call the API, separated by commas.'),
  TRUST_PROXY: commaSeparated(isProxy, 'must be addresses or networks such as 10.0.0.0/8, or loopback').describe(
    'Proxies whose X-Forwarded-For is believed: addresses, networks or loopback, separated by commas.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .string()
    .optional()
    .describe(
      'The OpenTelemetry collector that traces are sent to, such as http://127.0.0.1:4318 (docs/operations.md). Off without it. All other variables of OpenTelemetry mean what its documentation says.',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z
    .string()
    .optional()
    .describe('The same as the whole URL, path and all, such as http://127.0.0.1:4318/v1/traces.'),
  OTEL_TRACES_EXPORTER: z
    .string()
    .optional()
    .describe('otlp has traces sent without an endpoint, too: to this machine. console prints them. none is off.'),
  OTEL_SDK_DISABLED: z
    .string()
    .default('false')
    .transform((value) => value.toLowerCase() === 'true')
    .describe('true is off, whatever the others say.'),
  WEBHOOK_SECRET_KEY: commaSeparated(
    isEncryptionKey,
    'must be 32 bytes in base64 (`openssl rand -base64 32`)',
  ).describe(
    'Encrypts the webhook secrets: 32 bytes in base64, needed with DATABASE_URL. To change it, put the new one before the old one, with a comma.',
  ),
  WEBHOOK_ALLOW_PRIVATE_TARGETS: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .describe(
      'Allows http and private addresses as webhook targets. By default true only if HOST is loopback, PUBLIC_URL is unset or loopback, and neither DATABASE_URL nor TRUST_PROXY is set.',
    ),
  WEBHOOK_MAX_PENDING_DELIVERIES: wholeNumber(1, 1_000_000_000, maxPendingDeliveries).describe(
    'How many deliveries of a workspace may be pending. At the limit, the subscription with the most gets no new ones.',
  ),
  WEBHOOK_HOST_CONCURRENCY: wholeNumber(1, 1024, 32).describe(
    'Concurrent webhook requests to one target host, per workspace and worker.',
  ),
  WEBHOOK_HOST_PER_SECOND: wholeNumber(1, 1_000_000, 500).describe(
    'Webhook requests per second to one target host, per workspace and worker.',
  ),
  WEBHOOK_REFUSED_NETWORKS: commaSeparated(
    isNetwork,
    'must be networks such as 203.0.113.0/24 or 2001:db8::/32, separated by commas',
  ).describe(
    'Networks to which webhooks are never sent, separated by commas. Link-local and metadata addresses are refused anyway.',
  ),
});

export type Settings = z.output<typeof Settings>;

/** A setting that can't be used; the message is one line that names it. */
export class SettingsError extends Error {
  override name = 'SettingsError';
}

/** Reads the settings; throws `SettingsError` with a line for each wrong one. */
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
      'WEBHOOK_SECRET_KEY: is required with DATABASE_URL: 32 bytes in base64 (`openssl rand -base64 32`)',
    );
  }
  if (result.data.RATE_LIMIT_STORE === 'redis' && result.data.REDIS_URL === undefined) {
    throw new SettingsError('REDIS_URL: is required with RATE_LIMIT_STORE=redis: redis://user:password@host:6379');
  }
  // Where traces are off, what a platform tells everybody of its collector may be for others.
  if (asksForTraces(result.data)) assertCollector(result.data);
  return result.data;
}

/** Whether the variables of OpenTelemetry ask for traces; it is not to be loaded unless they do. */
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
      throw new SettingsError(`${name}: must be like http://collector.example.com:4318`);
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

function isProxy(value: string): boolean {
  return ['loopback', 'linklocal', 'uniquelocal'].includes(value) || isNetwork(value);
}

/** A single address, or a network in CIDR notation. */
function isNetwork(value: string): boolean {
  const [address = '', bits, ...rest] = value.split('/');
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** Whether a text is a key of `WEBHOOK_SECRET_KEY`: 32 bytes in base64. */
export function isEncryptionKey(value: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(value);
}

/** `.env.example`: every setting with its description and default, as comments. */
export function envExample(): string {
  const settings = Object.entries(Settings.shape).map(([name, schema]) => {
    const fallback = schema.safeParse(undefined).data ?? '';
    return `# ${schema.description}\n#${name}=${String(fallback)}\n`;
  });
  return `# Made from server/src/env.ts by \`pnpm generate\`. Copy it to .env, which start and itsm load and\n# git ignores, and take off the # where you want another value. What the environment says goes first.\n\n${settings.join('\n')}`;
}
