import type { Command } from 'commander';
import * as z from 'zod';
import { createTenant, deactivateTenant, listTenants, NewTenant } from '../resources/tenants/queries.ts';
import { examples } from './help.ts';
import { action } from './run.ts';
import { table } from './table.ts';

export function addTenants(program: Command): void {
  const tenants = program.command('tenants').description('Create, list and deactivate tenants (workspaces)');

  tenants
    .command('create')
    .description('Create a tenant and its first user, an administrator')
    .requiredOption('--name <name>', 'unique in whatever case, and not all digits')
    .requiredOption('--admin-email <email>', 'e-mail address of the administrator')
    .option('--admin-name <name>', 'name of the administrator (default: what precedes the @)')
    .addHelpText(
      'after',
      examples('tenants create --name "Acme" --admin-email ada@acme.example --admin-name "Ada Okafor"'),
    )
    .action(
      action({
        input: NewTenant,
        work: ({ prisma }, input) => createTenant(prisma, input),
        format: ({ tenant, admin }) =>
          `Created the tenant ${tenant.name} (id ${tenant.id}) with its administrator ${admin.email}.`,
      }),
    );

  tenants
    .command('list')
    .description('List all tenants')
    .addHelpText('after', examples('tenants list', 'tenants list --json'))
    .action(
      action({
        input: z.strictObject({}),
        work: ({ prisma }) => listTenants(prisma),
        format: (found) =>
          table(
            ['ID', 'NAME', 'STATE', 'CREATED'],
            found.map((each) => [String(each.id), each.name, each.active ? 'active' : 'inactive', each.createdAt]),
          ),
      }),
    );

  tenants
    .command('deactivate')
    .description('Deactivate a tenant: its keys stop working at once, and it receives no webhooks')
    .argument('<tenant>', 'name or id of the tenant')
    .addHelpText('after', examples('tenants deactivate Acme', 'tenants deactivate 12'))
    .action(
      action({
        input: z.strictObject({ tenant: z.string() }),
        work: ({ prisma }, { tenant }) => deactivateTenant(prisma, tenant),
        format: (tenant) => `The tenant ${tenant.name} (id ${tenant.id}) is inactive.`,
      }),
    );
}
