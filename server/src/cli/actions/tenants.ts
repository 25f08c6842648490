import { Scope } from '@itsm-api/contract';
import * as z from 'zod';
import { createKey } from '../../auth/api-keys/api-keys.ts';
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
} from '../../resources/tenants/queries.ts';
import { shell } from '../lib/help.ts';
import { activeLabel } from '../lib/output.ts';
import { action } from '../lib/run-command.ts';
import { updateInput } from '../lib/update.ts';

const Named = z.strictObject({ tenant: z.string() });

export const list = action({
  input: z.strictObject({}),
  work: ({ prisma }) => listTenants(prisma),
  format: (found, { table, time }) =>
    table(
      ['ID', 'NAME', 'STATUS', 'CREATED'],
      found.map(({ id, name, active, createdAt }) => [id, name, activeLabel(active), time(createdAt)]),
    ),
});

export const show = action({
  input: Named,
  work: ({ prisma }, { tenant }) => describeTenant(prisma, tenant),
  format: ({ active, createdAt, updatedAt, ...fields }, { card, time }) =>
    card({ ...fields, status: activeLabel(active), created: time(createdAt), updated: time(updatedAt) }),
});

export const create = action({
  input: NewTenant.extend({ withKey: z.boolean().default(false) }),
  work: async (runtime, { withKey, ...input }) => {
    const made = await createTenant(runtime.prisma, input);
    if (!withKey) return { ...made, key: undefined };
    const context = await activeTenantContext(runtime, String(made.tenant.id));
    const key = { user: made.admin.email, name: 'first', scopes: [...Scope.options] };
    return { ...made, key: await createKey(context, key) };
  },
  format: ({ key, ...made }) => key?.key ?? formatCreated(made),
  hint: ({ key, ...made }) =>
    key && `${formatCreated(made)} Store the key in a safe place. You can't display it again.`,
  next: ({ tenant: { name }, admin, key }) =>
    key === undefined
      ? [shell`keys create --tenant ${name} --user ${admin.email} --name first --scopes all`]
      : [
          shell`users create --tenant ${name} --name "…" --email … --role AGENT`,
          shell`listen --subscribe '*' --tenant ${name}`,
        ],
});

export const update = action({
  input: updateInput(Named.shape, TenantPatch.partial().shape),
  work: ({ prisma }, { tenant, ...patch }) => updateTenant(prisma, tenant, TenantPatch.parse(patch)),
  format: ({ id, name }) => `Renamed the tenant with ID ${id} to ${name}.`,
});

export const deactivate = action({
  input: Named,
  work: ({ prisma }, { tenant }) => deactivateTenant(prisma, tenant),
  format: formatStatus,
  next: ({ name }) => [shell`tenants activate ${name}`],
});

export const activate = action({
  input: Named,
  work: ({ prisma }, { tenant }) => activateTenant(prisma, tenant),
  format: formatStatus,
});

function formatCreated({ tenant, admin }: { tenant: Tenant; admin: { email: string } }): string {
  return `Created the tenant ${tenant.name} (ID ${tenant.id}) with its administrator ${admin.email}.`;
}

function formatStatus({ name, id, active }: Tenant): string {
  return `The tenant ${name} (ID ${id}) is ${active ? 'active' : 'inactive'}.`;
}
