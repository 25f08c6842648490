import { pathPrefix } from '@itsm-api/contract';
import type { DemoWorkspace } from '../../prisma/seed.ts';
import type { Settings } from './env.ts';

interface Greeting {
  /** Where the API is; undefined in a process that only delivers webhooks. */
  origin: string | undefined;
  settings: Settings;
  /** Made just now, on the first start: the one time that its key is shown. */
  demo: DemoWorkspace | undefined;
}

/** What `start` tells the person who ran it. */
export function greeting({ origin, settings, demo }: Greeting): string {
  const lines = [
    '',
    ...(origin === undefined
      ? ['  The webhook worker is running.', '']
      : ['  The ITSM API is running.', '', `  API    ${origin}${pathPrefix}`, `  Docs   ${origin}/docs`]),
    `  Data   ${settings.DATABASE_URL === undefined ? `${settings.DATA_DIR} (embedded PostgreSQL)` : 'the server of DATABASE_URL'}`,
    '  Keys   npx -y pnpm@12 --silent itsm keys create --help',
    '',
  ];
  if (demo !== undefined) {
    lines.push(
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
      `    npx -y pnpm@12 --silent itsm keys create --tenant '${demo.tenant}' --user ${demo.adminEmail} --name mine --scopes all`,
      '',
    );
  }
  return `${lines.join('\n')}\n`;
}
