import { Scope } from '@itsm-api/contract';
import { SingleBar } from 'cli-progress';
import * as z from 'zod';
import { Settings } from '../../env.ts';
import { createKey } from '../../identity/keys.ts';
import { moveTenant } from '../../resources/tenants/move.ts';
import { callOffMove } from '../../resources/tenants/move-settle.ts';
import {
  activateTenant,
  activeTenantContext,
  createTenant,
  deactivateTenant,
  describeTenant,
  findTenant,
  listTenants,
  NewTenant,
  type Tenant,
  TenantPatch,
  updateTenant,
} from '../../resources/tenants/queries.ts';
import type { Runtime } from '../../runtime.ts';
import { confirm } from '../confirm.ts';
import { shell } from '../help.ts';
import { action } from '../run.ts';
import { updateInput } from '../update.ts';
import { activity } from '../view.ts';

const Named = z.strictObject({ tenant: z.string() });

export const list = action({
  input: z.strictObject({}),
  work: ({ prisma }) => listTenants(prisma),
  format: (found, { table, time }) =>
    table(
      ['ID', 'NAME', 'STATE', 'CREATED'],
      found.map(({ id, name, active, createdAt }) => [id, name, activity(active), time(createdAt)]),
    ),
});

export const show = action({
  input: Named,
  work: ({ prisma }, { tenant }) => describeTenant(prisma, tenant),
  format: ({ active, createdAt, updatedAt, ...fields }, { card, time }) =>
    card({ ...fields, state: activity(active), created: time(createdAt), updated: time(updatedAt) }),
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
  format: ({ key, ...made }) => key?.key ?? created(made),
  hint: ({ key, ...made }) => key && `${created(made)} The key is shown this once: keep it in a safe place.`,
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
  format: ({ id, name }) => `The tenant with the id ${id} is named ${name}.`,
});

export const deactivate = action({
  input: Named,
  work: ({ prisma }, { tenant }) => deactivateTenant(prisma, tenant),
  format: told,
  next: ({ name }) => [shell`tenants activate ${name}`],
});

export const activate = action({
  input: Named,
  work: ({ prisma }, { tenant }) => activateTenant(prisma, tenant),
  format: told,
});

export const move = action({
  input: Named.extend({
    to: Settings.shape.DATABASE_URL.unwrap().optional(),
    callOff: z.boolean().default(false),
    yes: z.boolean().default(false),
  }).refine(({ to, callOff }) => (to === undefined) === callOff, {
    path: ['to'],
    message: 'is required, or --call-off, and not both',
  }),
  work: async (runtime, { tenant, to, yes }, say) => {
    const found = await findTenant(runtime.prisma, tenant);
    return to === undefined ? callOff(runtime, found, { yes, say }) : moveTo(runtime, found, to);
  },
  format: ({ id, name, rows }) => {
    if (rows === undefined) return `The tenant ${name} (id ${id}) is here, and can be written again.`;
    const copied = rows === 0 ? '' : `, and all of its ${rows.toLocaleString('en')} rows`;
    return `The tenant ${name} (id ${id}) is in the other cell now${copied}.`;
  },
  hint: ({ rows }) =>
    rows === undefined
      ? undefined
      : "Have the proxy lead the workspace's address there: until then its keys are answered 429 here.",
});

async function moveTo(runtime: Runtime, { id, name }: Tenant, to: string) {
  // Draws nothing where stderr is no terminal. `gracefulExit` gives the terminal back before Ctrl-C ends the process.
  const format = '{bar} {value} of {total} rows copied and compared, {eta_formatted} to go';
  const bar = new SingleBar({ format, clearOnComplete: true, gracefulExit: true });
  try {
    const onProgress = (done: number, total: number) => (bar.isActive ? bar.update(done) : bar.start(total, done));
    return { id, name, ...(await moveTenant(runtime, { id, to, onProgress })) };
  } finally {
    bar.stop();
  }
}

async function callOff(
  runtime: Runtime,
  { id, name }: Tenant,
  { yes, say }: { yes: boolean; say(line: string): unknown },
) {
  await callOffMove(runtime, {
    id,
    async confirm(reason) {
      say(reason);
      say(
        'Go on only where the other cell is lost for good: what was written there since is lost with it. Does it come back, ' +
          'the tenant could be written there, too, until a worker of this cell reaches it where it was.',
      );
      return yes || (await confirm(`have ${name} written here again`));
    },
  });
  return { id, name, rows: undefined };
}

function created({ tenant, admin }: { tenant: Tenant; admin: { email: string } }): string {
  return `Created the tenant ${tenant.name} (id ${tenant.id}) with its administrator ${admin.email}.`;
}

function told({ name, id, active }: Tenant): string {
  return `The tenant ${name} (id ${id}) is ${active ? 'active' : 'inactive'}.`;
}
