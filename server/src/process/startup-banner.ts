import { pathPrefix } from '@itsm-api/contract';
import type { Logger } from 'pino';
import type { DemoWorkspace } from '../../../prisma/seed.ts';
import { invitationLink } from '../auth/accounts/invitations.ts';
import type { Settings } from '../config/env.ts';
import { isLocalOnly } from '../config/is-local-only.ts';
import { connectionBudget, describeBudget } from '../database/connection-budget.ts';
import { isTerminal } from '../http/logging/logger.ts';

interface BannerOptions {
  /** The origin of the API. Undefined in a process that only delivers webhooks. */
  origin: string | undefined;
  /** The origin of the operations server, or undefined if it is off. */
  operationsOrigin: string | undefined;
  settings: Settings;
  /**
   * The demo workspace if the server has just created it. Later starts can't show its API key, because the database
   * stores only a hash of the key.
   */
  demo: DemoWorkspace | undefined;
}

/**
 * If stdout is a terminal, prints the server addresses. Otherwise, logs the addresses at level info, regardless of
 * LOG_LEVEL.
 */
export function printBanner(options: BannerOptions, logger: Logger): void {
  if (isTerminal()) {
    process.stdout.write(banner(options));
    logger.debug(describeBudget(connectionBudget(options.settings)));
  } else logger.child({}, { level: 'info' }).info(logLine(options), headline(options));
}

function headline({ origin }: BannerOptions): string {
  return origin === undefined ? 'The webhook worker is running.' : 'The ITSM API is running.';
}

function describeDataLocation({ DATABASE_URL, DATA_DIR }: Settings): string {
  return DATABASE_URL === undefined ? `${DATA_DIR} (embedded PostgreSQL)` : 'the server of DATABASE_URL';
}

const keyHelp = './itsm keys create --help';

function banner(options: BannerOptions): string {
  const { origin, operationsOrigin, settings, demo } = options;
  const lines = [
    '',
    `  ${headline(options)}`,
    '',
    ...(demo === undefined ? [] : isLocalOnly(settings) ? withKey(demo, origin) : withoutKey(demo)),
    ...(origin === undefined ? [] : [`  API    ${origin}${pathPrefix}`, `  Docs   ${origin}/`]),
    `  Data   ${describeDataLocation(settings)}`,
    ...(operationsOrigin === undefined ? [] : [`  Health ${operationsOrigin}/readyz`]),
    `  Keys   ${keyHelp}`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function withKey(demo: DemoWorkspace, origin: string | undefined): string[] {
  return [
    `  A demo workspace, "${demo.tenant}", is ready. Its API key has all scopes and is shown only once:`,
    '',
    `    ${demo.key}`,
    '',
    '  Manage its API keys and webhooks in the developer area. This link works once:',
    '',
    `    ${developerAreaLink(demo, origin)}`,
    '',
    '  Try it:',
    '',
    `    ${tryIt(demo, origin)}`,
    '',
    '  To create another API key:',
    '',
    `    ${keyCommand(demo)}`,
    '',
  ];
}

/** Omits the API key, because a log collector may store the output of a server that other machines can reach. */
function withoutKey(demo: DemoWorkspace): string[] {
  return [
    `  A demo workspace, "${demo.tenant}", is ready. To create an API key for it:`,
    '',
    `    ${keyCommand(demo)}`,
    '',
  ];
}

/** Returns the content of the startup banner as fields of a log entry. */
function logLine({ origin, operationsOrigin, settings, demo }: BannerOptions): object {
  return {
    ...(origin !== undefined && { api: `${origin}${pathPrefix}`, docs: `${origin}/` }),
    ...(operationsOrigin !== undefined && { operations: operationsOrigin }),
    data: describeDataLocation(settings),
    uses: describeBudget(connectionBudget(settings)),
    keys: keyHelp,
    ...(demo !== undefined && {
      demo: {
        tenant: demo.tenant,
        ...(isLocalOnly(settings) && {
          key: demo.key,
          try: tryIt(demo, origin),
          area: developerAreaLink(demo, origin),
        }),
        anotherKey: keyCommand(demo),
      },
    }),
  };
}

function tryIt({ key }: DemoWorkspace, origin: string | undefined): string {
  return `curl -H 'Authorization: Bearer ${key}' '${origin}${pathPrefix}/tickets?perPage=3'`;
}

/** Returns a link with the host name `localhost`, because browsers don't create passkeys for IP addresses. */
function developerAreaLink({ invitation }: DemoWorkspace, origin: string | undefined): string {
  const at = new URL(origin ?? 'http://localhost');
  at.hostname = 'localhost';
  return invitationLink(at.href, invitation);
}

function keyCommand({ tenant, adminEmail }: DemoWorkspace): string {
  return `./itsm keys create --tenant '${tenant}' --user ${adminEmail} --name mine --scopes all`;
}
