import { integerFromText, Scope, scopes } from '@itsm-api/contract';
import type { Command } from 'commander';
import * as z from 'zod';
import { createKey, type Key, listKeys, NewKey, revokeKey } from '../identity/keys.ts';
import { activeTenantContext, tenantContext } from '../resources/tenants/queries.ts';
import { examples } from './help.ts';
import { action } from './run.ts';
import { table } from './table.ts';

const scopeList = z
  .string()
  .transform((text) => (text.trim() === 'all' ? [...Scope.options] : text.split(',').map((scope) => scope.trim())))
  .pipe(NewKey.shape.scopes);

const scopeHelp = ['', 'Scopes:', ...Object.entries(scopes).map(([name, what]) => `  ${name.padEnd(17)}${what}`)].join(
  '\n',
);

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('Create, list and revoke API keys');

  keys
    .command('create')
    .description('Create an API key and print it, alone, on stdout: the one time that it is shown')
    .requiredOption('--tenant <tenant>', 'name or id of the tenant')
    .requiredOption('--user <email>', 'in whose name the key acts')
    .requiredOption('--name <name>', 'what the key is for')
    .requiredOption('--scopes <scopes>', 'what the key may do: scopes, separated by commas, or all')
    .option('--expires-in-days <days>', 'days until it stops working (default: never)')
    .addHelpText('after', scopeHelp)
    .addHelpText(
      'after',
      examples(
        'keys create --tenant Acme --user ada@acme.example --name ci --scopes tickets:read,tickets:write',
        'keys create --tenant Acme --user ada@acme.example --name trial --scopes all --expires-in-days 30',
      ),
    )
    .action(
      action({
        input: NewKey.extend({ tenant: z.string(), scopes: scopeList }),
        work: async (runtime, { tenant, ...key }) => createKey(await activeTenantContext(runtime, tenant), key),
        hint: (key) =>
          `Key ${key.id}, "${key.name}", acts for ${key.user} and ${ending(key)}. It is shown this once: keep it in a safe place.`,
        format: ({ key }) => key,
      }),
    );

  keys
    .command('list')
    .description('List the API keys of a tenant, newest first, also those that work no more')
    .requiredOption('--tenant <tenant>', 'name or id of the tenant')
    .addHelpText('after', examples('keys list --tenant Acme'))
    .action(
      action({
        input: z.strictObject({ tenant: z.string() }),
        work: async (runtime, { tenant }) => listKeys(await tenantContext(runtime, tenant)),
        format: (found) =>
          table(
            ['ID', 'NAME', 'KEY', 'USER', 'SCOPES', 'LAST USED', 'STATE'],
            found.map((key) => [
              String(key.id),
              key.name,
              `…${key.lastFour}`,
              key.user,
              key.scopes.length === Scope.options.length ? 'all' : key.scopes.join(','),
              key.lastUsedAt ?? 'never',
              ending(key),
            ]),
          ),
      }),
    );

  keys
    .command('revoke')
    .description('Revoke an API key: it stops working at once, and for good')
    .argument('<id>', 'id of the key, as `keys list` shows it')
    .addHelpText('after', examples('keys revoke 7'))
    .action(
      action({
        input: z.strictObject({ id: integerFromText() }),
        work: ({ prisma }, { id }) => revokeKey(prisma, id),
        format: (key) => `Key ${key.id}, "${key.name}" of ${key.user}, ${ending(key)}.`,
      }),
    );
}

function ending({ revokedAt, expiresAt }: Key): string {
  if (revokedAt !== null) return `was revoked ${revokedAt}`;
  if (expiresAt === null) return 'never expires';
  return `${Date.parse(expiresAt) <= Date.now() ? 'expired' : 'expires'} ${expiresAt}`;
}
