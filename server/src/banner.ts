import { pathPrefix } from '@itsm-api/contract';
import type { DemoWorkspace } from '../../prisma/seed.ts';
import { connectionBudget, describeBudget } from './database/connection-budget.ts';
import type { Settings } from './env.ts';
import { isForThisMachine } from './loopback.ts';

interface Greeting {
  /** Where the API is; undefined in a process that only delivers webhooks. */
  origin: string | undefined;
  /** Where operators ask; undefined where that is off. */
  operationsOrigin: string | undefined;
  settings: Settings;
  /** Made just now, on the first start: the one time that its key is shown. */
  demo: DemoWorkspace | undefined;
}

/** What `start` tells the person who ran it. */
export function greeting({ origin, operationsOrigin, settings, demo }: Greeting): string {
  const lines = [
    '',
    ...(origin === undefined
      ? ['  The webhook worker is running.', '']
      : ['  The ITSM API is running.', '', `  API    ${origin}${pathPrefix}`, `  Docs   ${origin}/docs`]),
    `  Data   ${settings.DATABASE_URL === undefined ? `${settings.DATA_DIR} (embedded PostgreSQL)` : 'the server of DATABASE_URL'}`,
    ...(operationsOrigin === undefined ? [] : [`  Health ${operationsOrigin}/readyz`]),
    `  Uses   ${describeBudget(connectionBudget(settings))}`,
    '  Keys   npx -y pnpm@12 --silent itsm keys create --help',
    '',
  ];
  if (demo !== undefined) lines.push(...(isForThisMachine(settings) ? withKey(demo, origin) : withoutKey(demo)));
  return `${lines.join('\n')}\n`;
}

function withKey(demo: DemoWorkspace, origin: string | undefined): string[] {
  return [
    `  A demo workspace, "${demo.tenant}", is ready. Its key has all scopes and is shown this once:`,
    '',
    `    ${demo.key}`,
    '',
    '  Try it:',
    '',
    `    curl -H 'Authorization: Bearer ${demo.key}' '${origin}${pathPrefix}/tickets?perPage=3'`,
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

function keyCommand({ tenant, adminEmail }: DemoWorkspace): string {
  return `npx -y pnpm@12 --silent itsm keys create --tenant '${tenant}' --user ${adminEmail} --name mine --scopes all`;
}
