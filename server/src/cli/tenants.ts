import { Scope } from '@itsm-api/contract';
import * as z from 'zod';
import { createKey } from '../identity/keys.ts';
import {
  activateTenant,
  activeTenantContext,
  createTenant,
  deactivateTenant,
  describeTenant,
  listTenants,
  NewTenant,
  type Tenant,
  TenantPatch,
  updateTenant,
} from '../resources/tenants/queries.ts';
import { common, type Noun } from './command.ts';
import { shell } from './help.ts';
import { action } from './run.ts';
import { updateInput } from './update.ts';
import { state } from './view.ts';

const tenant = { flags: '<tenant>', about: 'name or id of the tenant', values: 'tenants' } as const;
const Named = z.strictObject({ tenant: z.string() });

export const tenants: Noun = {
  verbs: {
    list: {
      summary: 'List all tenants, by name',
      options: [common.utc],
      examples: ['tenants list', 'tenants list --json'],
      run: action({
        input: z.strictObject({}),
        work: ({ prisma }) => listTenants(prisma),
        format: (found, { table, time }) =>
          table(
            ['ID', 'NAME', 'STATE', 'CREATED'],
            found.map(({ id, name, active, createdAt }) => [id, name, stateOf(active), time(createdAt)]),
          ),
      }),
    },
    show: {
      summary: 'Show a tenant, and how much it has',
      arguments: [tenant],
      options: [common.utc],
      examples: ['tenants show Acme'],
      run: action({
        input: Named,
        work: ({ prisma }, { tenant }) => describeTenant(prisma, tenant),
        format: ({ active, createdAt, updatedAt, ...fields }, { card, time }) =>
          card({ ...fields, state: stateOf(active), created: time(createdAt), updated: time(updatedAt) }),
      }),
    },
    create: {
      summary: 'Create a tenant and its first user, an administrator',
      details:
        'With --with-key it also makes a key with all scopes for them, and prints it, alone, on stdout: the one time that ' +
        'it is shown.',
      options: [
        { flags: '--name <name>', about: 'unique in whatever case, and not all digits', required: true },
        { flags: '--admin-email <email>', about: 'e-mail address of the administrator', required: true },
        { flags: '--admin-name <name>', about: 'name of the administrator (default: what precedes the @)' },
        { flags: '--with-key', about: 'make a key for the administrator, too' },
      ],
      examples: [
        'tenants create --name Acme --admin-email ada@acme.example --admin-name "Ada Okafor"',
        'tenants create --name Acme --admin-email ada@acme.example --with-key',
      ],
      run: action({
        input: NewTenant.extend({ withKey: z.boolean().default(false) }),
        work: async (runtime, { withKey, ...input }) => {
          const made = await createTenant(runtime.prisma, input);
          if (!withKey) return { ...made, key: undefined };
          const context = await activeTenantContext(runtime, String(made.tenant.id));
          const key = { user: made.admin.email, name: 'first', scopes: [...Scope.options] };
          return { ...made, key: await createKey(context, key) };
        },
        format: ({ key, ...made }) => key?.key ?? created(made),
        hint: ({ key, ...made }) => key && `${created(made)} The key is shown this once: keep it in a safe place.`,
        next: ({ tenant: { name }, admin, key }) =>
          key === undefined
            ? [shell`keys create --tenant ${name} --user ${admin.email} --name first --scopes all`]
            : [
                shell`users create --tenant ${name} --name "…" --email … --role AGENT`,
                shell`listen --subscribe '*' --tenant ${name}`,
              ],
      }),
    },
    update: {
      summary: 'Change the name of a tenant',
      arguments: [tenant],
      options: [{ flags: '--name <name>', about: 'the new name' }],
      examples: ['tenants update Acme --name "Acme Corporation"'],
      run: action({
        input: updateInput(Named.shape, TenantPatch.partial().shape),
        work: ({ prisma }, { tenant, ...patch }) => updateTenant(prisma, tenant, TenantPatch.parse(patch)),
        format: ({ id, name }) => `The tenant with the id ${id} is named ${name}.`,
      }),
    },
    deactivate: {
      summary: 'Deactivate a tenant: its keys stop working at once, and it receives no webhooks',
      arguments: [tenant],
      examples: ['tenants deactivate Acme', 'tenants deactivate 12'],
      run: action({
        input: Named,
        work: ({ prisma }, { tenant }) => deactivateTenant(prisma, tenant),
        format: told,
        next: ({ name }) => [shell`tenants activate ${name}`],
      }),
    },
    activate: {
      summary: 'Activate a tenant again: its keys work again',
      arguments: [tenant],
      examples: ['tenants activate Acme'],
      run: action({
        input: Named,
        work: ({ prisma }, { tenant }) => activateTenant(prisma, tenant),
        format: told,
      }),
    },
  },
};

function created({ tenant, admin }: { tenant: Tenant; admin: { email: string } }): string {
  return `Created the tenant ${tenant.name} (id ${tenant.id}) with its administrator ${admin.email}.`;
}

function told({ name, id, active }: Tenant): string {
  return `The tenant ${name} (id ${id}) is ${active ? 'active' : 'inactive'}.`;
}

/** Of a row that has such a column. */
function stateOf(active: boolean) {
  return state(active ? 'active' : 'inactive');
}
