import { pathPrefix } from '@itsm-api/contract';
import type { Logger } from 'pino';
import type { DemoWorkspace } from '../../../prisma/seed.ts';
import { invitationLink } from '../auth/accounts/invitations.ts';
import type { Settings } from '../config/env.ts';
import { isLocalOnly } from '../config/is-local-only.ts';
import { connectionBudget, describeBudget } from '../database/connection-budget.ts';
import { isWatched } from '../http/logger.ts';

interface Greeting {
  /** Where the API is; undefined in a process that only delivers webhooks. */
  origin: string | undefined;
  /** Where operators ask; undefined where that is off. */
  operationsOrigin: string | undefined;
  settings: Settings;
  /** Made just now, on the first start: the one time that its key is shown. */
  demo: DemoWorkspace | undefined;
}

/** Tells the person who ran `start`, or else the log, where everything is: whatever LOG_LEVEL says, since it is asked for. */
export function printBanner(greeting: Greeting, logger: Logger): void {
  if (isWatched()) {
    process.stdout.write(banner(greeting));
    logger.debug(describeBudget(connectionBudget(greeting.settings)));
  } else logger.child({}, { level: 'info' }).info(logLine(greeting), headline(greeting));
}

function headline({ origin }: Greeting): string {
  return origin === undefined ? 'The webhook worker is running.' : 'The ITSM API is running.';
}

function placeOfData({ DATABASE_URL, DATA_DIR }: Settings): string {
  return DATABASE_URL === undefined ? `${DATA_DIR} (embedded PostgreSQL)` : 'the server of DATABASE_URL';
}

const keyHelp = './itsm keys create --help';

function banner(greeting: Greeting): string {
  const { origin, operationsOrigin, settings, demo } = greeting;
  const lines = [
    '',
    `  ${headline(greeting)}`,
    '',
    ...(demo === undefined ? [] : isLocalOnly(settings) ? withKey(demo, origin) : withoutKey(demo)),
    ...(origin === undefined ? [] : [`  API    ${origin}${pathPrefix}`, `  Docs   ${origin}/`]),
    `  Data   ${placeOfData(settings)}`,
    ...(operationsOrigin === undefined ? [] : [`  Health ${operationsOrigin}/readyz`]),
    `  Keys   ${keyHelp}`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function withKey(demo: DemoWorkspace, origin: string | undefined): string[] {
  return [
    `  A demo workspace, "${demo.tenant}", is ready. Its key has all scopes and is shown this once:`,
    '',
    `    ${demo.key}`,
    '',
    '  Its developer area, where keys and webhooks are managed; this link works once:',
    '',
    `    ${areaLink(demo, origin)}`,
    '',
    '  Try it:',
    '',
    `    ${tryIt(demo, origin)}`,
    '',
    '  Another key for it:',
    '',
    `    ${keyCommand(demo)}`,
    '',
  ];
}

/** Where others can reach the server, they may read what it prints, too: in a log, most likely. */
function withoutKey(demo: DemoWorkspace): string[] {
  return [`  A demo workspace, "${demo.tenant}", is ready. To make a key for it:`, '', `    ${keyCommand(demo)}`, ''];
}

/** The same as the fields of a line. */
function logLine({ origin, operationsOrigin, settings, demo }: Greeting): object {
  return {
    ...(origin !== undefined && { api: `${origin}${pathPrefix}`, docs: `${origin}/` }),
    ...(operationsOrigin !== undefined && { operations: operationsOrigin }),
    data: placeOfData(settings),
    uses: describeBudget(connectionBudget(settings)),
    keys: keyHelp,
    ...(demo !== undefined && {
      demo: {
        tenant: demo.tenant,
        ...(isLocalOnly(settings) && { key: demo.key, try: tryIt(demo, origin), area: areaLink(demo, origin) }),
        anotherKey: keyCommand(demo),
      },
    }),
  };
}

function tryIt({ key }: DemoWorkspace, origin: string | undefined): string {
  return `curl -H 'Authorization: Bearer ${key}' '${origin}${pathPrefix}/tickets?perPage=3'`;
}

/** By name: browsers make no passkeys for bare addresses. */
function areaLink({ invitation }: DemoWorkspace, origin: string | undefined): string {
  const at = new URL(origin ?? 'http://localhost');
  at.hostname = 'localhost';
  return invitationLink(at.href, invitation);
}

function keyCommand({ tenant, adminEmail }: DemoWorkspace): string {
  return `./itsm keys create --tenant '${tenant}' --user ${adminEmail} --name mine --scopes all`;
}
