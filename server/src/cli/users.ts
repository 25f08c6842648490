import { NewUser, type User, UserRole } from '@itsm-api/contract';
import type { Command } from 'commander';
import * as z from 'zod';
import type { Context } from '../context.ts';
import { activeTenantContext, tenantContext } from '../resources/tenants/queries.ts';
import { createUser, deactivateUser, listUsers, userRows } from '../resources/users/queries.ts';
import { addExport } from './export.ts';
import { examples } from './help.ts';
import { action } from './run.ts';
import { table } from './table.ts';

const timeZone = NewUser.shape.timeZone.refine(
  (name) => name == null || isTimeZone(name),
  'must be the IANA name of a time zone, such as Europe/Berlin',
);

export function addUsers(program: Command): void {
  const users = program.command('users').description('Create, list, deactivate and export the users of a tenant');

  users
    .command('create')
    .description('Create a user')
    .requiredOption('--tenant <tenant>', 'name or id of the tenant')
    .requiredOption('--name <name>', 'name of the person')
    .requiredOption('--email <email>', 'e-mail address, unique in the tenant')
    .requiredOption('--role <role>', UserRole.options.join(', '))
    .option('--job-title <title>')
    .option('--department <department>')
    .option('--phone <phone>')
    .option('--time-zone <zone>', 'IANA name such as Europe/Berlin')
    .addHelpText(
      'after',
      examples(
        'users create --tenant Acme --name "Jonas Weber" --email jonas@acme.example --role AGENT --department IT',
      ),
    )
    .action(
      action({
        input: NewUser.extend({ tenant: z.string(), timeZone }),
        work: async (runtime, { tenant, ...user }) => createUser(await activeTenantContext(runtime, tenant), user),
        format: (user) => `Created the user ${user.name} <${user.email}> (id ${user.id}), ${user.role}.`,
      }),
    );

  users
    .command('list')
    .description('List all users of a tenant')
    .requiredOption('--tenant <tenant>', 'name or id of the tenant')
    .addHelpText('after', examples('users list --tenant Acme'))
    .action(
      action({
        input: z.strictObject({ tenant: z.string() }),
        work: async (runtime, { tenant }) => listAll(await tenantContext(runtime, tenant)),
        format: (found) =>
          table(
            ['ID', 'NAME', 'E-MAIL', 'ROLE', 'STATE'],
            found.map((user) => [
              String(user.id),
              user.name,
              user.email,
              user.role,
              user.active ? 'active' : 'inactive',
            ]),
          ),
      }),
    );

  users
    .command('deactivate')
    .description('Deactivate a user: their keys stop working at once, and nothing can be assigned to them any more')
    .argument('<email>', 'e-mail address of the user')
    .requiredOption('--tenant <tenant>', 'name or id of the tenant')
    .addHelpText('after', examples('users deactivate --tenant Acme jonas@acme.example'))
    .action(
      action({
        input: z.strictObject({ tenant: z.string(), email: NewUser.shape.email }),
        work: async (runtime, { tenant, email }) => deactivateUser(await tenantContext(runtime, tenant), email),
        format: (user) => `The user ${user.name} <${user.email}> (id ${user.id}) is inactive.`,
      }),
    );

  addExport(users, userRows);
}

/** Every page of the list. */
async function listAll(context: Context): Promise<User[]> {
  const found: User[] = [];
  for (let page = 1; ; page++) {
    const { data } = await listUsers(context, { page, perPage: 100 });
    if (data.length === 0) return found;
    found.push(...data);
  }
}

function isTimeZone(name: string): boolean {
  // Intl also takes offsets such as +01:00, which know no summer time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
