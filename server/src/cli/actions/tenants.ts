import { integerFromText, Scope, TargetMinutes } from '@itsm-api/contract';
import * as z from 'zod';
import { createKey } from '../../auth/api-keys/api-keys.ts';
import { getKeyPolicy, KeyPolicy, requiresExpiry, setKeyPolicy } from '../../auth/api-keys/key-policy.ts';
import { formatTargets } from '../../resources/business-hours/calendar-text.ts';
import { getStrictMode, setStrictMode } from '../../resources/custom-fields/strict-mode.ts';
import { Maintenance, setMaintenance } from '../../resources/tenants/maintenance.ts';
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
  tenantContext,
  updateTenant,
} from '../../resources/tenants/queries.ts';
import { deleteTenant } from '../../resources/tenants/tenant-deletion.ts';
import { exportTenant } from '../../resources/tenants/tenant-export.ts';
import type { Manifest } from '../../resources/tenants/tenant-folder.ts';
import { importTenant } from '../../resources/tenants/tenant-import.ts';
import { getChangePolicy, setChangePolicy } from '../../resources/tickets/change-policy.ts';
import { CommandError } from '../lib/cli-errors.ts';
import { confirmName } from '../lib/confirm.ts';
import { shell } from '../lib/help.ts';
import { activeLabel, statusLabel } from '../lib/output.ts';
import { action } from '../lib/run-command.ts';
import { TrueOrFalse, updateInput } from '../lib/update.ts';

const Named = z.strictObject({ tenant: z.string() });

export const list = action({
  input: z.strictObject({}),
  work: ({ prisma }) => listTenants(prisma),
  format: (found, { table, time }) =>
    table(
      ['ID', 'NAME', 'STATUS', 'CREATED'],
      found.map((tenant) => [tenant.id, tenant.name, tenantLabel(tenant), time(tenant.createdAt)]),
    ),
});

export const show = action({
  input: Named,
  work: async (runtime, { tenant }) => {
    const details = await describeTenant(runtime.prisma, tenant);
    const { db } = await tenantContext(runtime, String(details.id));
    const rules = { keyPolicy: await getKeyPolicy(db), strictFields: await getStrictMode(db) };
    return { ...details, ...rules, changePolicy: await getChangePolicy(db) };
  },
  format: (
    {
      active,
      maintenanceSince,
      unavailableSince,
      createdAt,
      updatedAt,
      resolutionTargets,
      firstResponseTargets,
      keyPolicy,
      strictFields,
      changePolicy,
      ...fields
    },
    { card, time },
  ) =>
    card({
      ...{ ...fields, 'first response targets': formatTargets(firstResponseTargets) },
      ...{ 'resolution targets': formatTargets(resolutionTargets), 'key expiry': formatPolicy(keyPolicy) },
      ...{ 'strict fields': String(strictFields), 'change policy': String(changePolicy) },
      status: tenantLabel({ active, maintenanceSince, unavailableSince }),
      ...(maintenanceSince !== null && { 'in maintenance since': time(maintenanceSince) }),
      ...{ created: time(createdAt), updated: time(updatedAt) },
    }),
});

export const create = action({
  input: NewTenant.extend({ withKey: z.boolean().default(false) }),
  work: async (runtime, { withKey, ...input }) => {
    const made = await createTenant(runtime.prisma, input, runtime.services);
    if (!withKey) return { ...made, key: undefined };
    const context = await activeTenantContext(runtime, String(made.tenant.id));
    const key = { user: made.admin.email, name: 'first', scopes: [...Scope.options] };
    return { ...made, key: await createKey(context, key) };
  },
  format: ({ key, ...made }) => key?.key ?? formatCreated(made),
  hint: ({ key, ...made }) =>
    key && `${formatCreated(made)} Store the key in a safe place. You can't display it again.`,
  next: ({ tenant: { name }, admin, key }) => [
    shell`users invite ${admin.email} --tenant ${name}`,
    ...(key === undefined
      ? [shell`keys create --tenant ${name} --user ${admin.email} --name first --scopes all`]
      : [
          shell`users create --tenant ${name} --name "…" --email … --role AGENT`,
          shell`listen --subscribe '*' --tenant ${name}`,
        ]),
  ],
});

const Target = integerFromText(TargetMinutes.shape.LOW.unwrap()).nullable().optional();

export const update = action({
  input: updateInput(Named.shape, {
    ...TenantPatch.partial().shape,
    ...{ targetCritical: Target, targetHigh: Target, targetMedium: Target, targetLow: Target },
    ...{ firstResponseCritical: Target, firstResponseHigh: Target },
    ...{ firstResponseMedium: Target, firstResponseLow: Target },
    maxKeyDays: KeyPolicy.shape.maxLifetimeDays.optional(),
    requireKeyExpiry: TrueOrFalse.optional(),
    strictFields: TrueOrFalse.optional(),
    changePolicy: TrueOrFalse.optional(),
  }),
  work: async (runtime, { tenant, name, maxKeyDays, requireKeyExpiry, strictFields, changePolicy, ...targets }) => {
    const targetsOf = (kind: 'target' | 'firstResponse') => ({
      ...{ CRITICAL: targets[`${kind}Critical`], HIGH: targets[`${kind}High`] },
      ...{ MEDIUM: targets[`${kind}Medium`], LOW: targets[`${kind}Low`] },
    });
    const updated = await updateTenant(runtime, tenant, {
      name,
      targets: { resolution: targetsOf('target'), firstResponse: targetsOf('firstResponse') },
    });
    const context = await tenantContext(runtime, String(updated.id));
    if (strictFields !== undefined) await setStrictMode(context, strictFields);
    if (changePolicy !== undefined) await setChangePolicy(context, changePolicy);
    const keyPolicy = await setKeyPolicy(context, {
      ...(maxKeyDays !== undefined && { maxLifetimeDays: maxKeyDays }),
      ...(requireKeyExpiry !== undefined && { expiryRequired: requireKeyExpiry }),
    });
    const { db } = context;
    return { ...updated, keyPolicy, strictFields: await getStrictMode(db), changePolicy: await getChangePolicy(db) };
  },
  format: ({ id, name, resolutionTargets, firstResponseTargets, keyPolicy, strictFields, changePolicy }) =>
    `Updated the tenant ${name} (ID ${id}). Resolution targets: ${formatTargets(resolutionTargets)}. ` +
    `First response targets: ${formatTargets(firstResponseTargets)}. ` +
    `Expiry of API keys: ${formatPolicy(keyPolicy)}. Strict custom fields: ${strictFields}. ` +
    `Policy for changes: ${changePolicy}.`,
});

function formatPolicy(policy: KeyPolicy): string {
  if (policy.maxLifetimeDays !== null) return `at most ${policy.maxLifetimeDays} days`;
  return requiresExpiry(policy) ? 'required' : 'optional';
}

export const deactivate = action({
  input: Named,
  work: (runtime, { tenant }) => deactivateTenant(runtime, tenant),
  format: formatStatus,
  next: ({ name }) => [shell`tenants activate ${name}`],
});

export const activate = action({
  input: Named,
  work: (runtime, { tenant }) => activateTenant(runtime, tenant),
  format: formatStatus,
});

export const maintenance = action({
  input: Named.extend({ state: Maintenance }),
  work: (runtime, { tenant, state }) => setMaintenance(runtime, tenant, state),
  format: ({ name, id, ...tenant }) => {
    const states = { off: 'no longer in maintenance', 'read-only': 'read-only', on: 'in maintenance' };
    return `The tenant ${name} (ID ${id}) is ${states[maintenanceOf(tenant)]}.`;
  },
  next: ({ name, maintenanceSince }) => (maintenanceSince === null ? [] : [shell`tenants maintenance ${name} off`]),
});

function maintenanceOf({
  maintenanceSince,
  unavailableSince,
}: Pick<Tenant, 'maintenanceSince' | 'unavailableSince'>): Maintenance {
  if (maintenanceSince === null) return 'off';
  return unavailableSince === null ? 'read-only' : 'on';
}

function tenantLabel({ active, ...tenant }: Pick<Tenant, 'active' | 'maintenanceSince' | 'unavailableSince'>) {
  const state = maintenanceOf(tenant);
  return state === 'off' ? activeLabel(active) : statusLabel(state === 'on' ? 'maintenance' : state);
}

const Folder = z.string().min(1);

const exportFolder = action({
  input: Named.extend({ folder: Folder }),
  work: async (runtime, { tenant, folder }, report) =>
    exportTenant(runtime, await findTenant(runtime.prisma, tenant), { folder, report }),
  format: (manifest) =>
    `Exported ${formatManifest(manifest)}. The SHA-256 of manifest.json is ${manifest.manifestSha256}.` +
    `${manifest.maintenanceSince === null ? ' The export is only a backup, because the tenant is not in maintenance.' : ''}`,
});

const importFolder = action({
  input: z.strictObject({
    folder: Folder,
    manifestSha256: z
      .string()
      .regex(/^[\da-f]{64}$/i, 'must be a SHA-256 in hexadecimal')
      .optional(),
  }),
  work: (runtime, { folder, manifestSha256: sha256 }, report) => importTenant(runtime, { folder, sha256, report }),
  format: (manifest) => `Imported ${formatManifest(manifest)}.`,
  hint: ({ deactivatedWebhooks }) =>
    deactivatedWebhooks.length === 0
      ? undefined
      : 'No key decrypts the secrets of these webhooks. They got random secrets and are inactive: ' +
        `${deactivatedWebhooks.map(({ id, url }) => `${id} (${url})`).join(', ')}.`,
  next: ({ deactivatedWebhooks: [webhook], tenant }) =>
    webhook === undefined
      ? []
      : [
          shell`webhooks activate ${webhook.id} --tenant ${tenant.id}`,
          shell`webhooks update ${webhook.id} --tenant ${tenant.id} --secret …`,
        ],
});

function formatManifest({ tenant: { id, name }, tables, attachments }: Manifest): string {
  const rows = Object.values(tables).reduce((sum, table) => sum + table.rows, 0);
  return `the tenant ${name} (ID ${id}), ${rows} rows and ${attachments} ${attachments === 1 ? 'file' : 'files'} of attachments`;
}

const deleteRows = action({
  input: Named.extend({ moved: Folder.optional(), yes: z.boolean().default(false) }),
  async work(runtime, { tenant, moved, yes }, report) {
    const { id, name } = await findTenant(runtime.prisma, tenant);
    if (!yes && !(await confirmName(`delete all data of the tenant ${name} (ID ${id})`, name)))
      throw new CommandError('The tenant was not deleted.');
    return { id, name, rows: await deleteTenant(runtime, { id, name }, { moved, report }) };
  },
  format: ({ id, name, rows }) =>
    `Deleted the tenant ${name} (ID ${id}) with ${rows.tickets} ${rows.tickets === 1 ? 'ticket' : 'tickets'}.`,
});

export { deleteRows as delete, exportFolder as export, importFolder as import };

function formatCreated({ tenant, admin }: { tenant: Tenant; admin: { email: string } }): string {
  return `Created the tenant ${tenant.name} (ID ${tenant.id}) with its administrator ${admin.email}.`;
}

function formatStatus({ name, id, active }: Tenant): string {
  return `The tenant ${name} (ID ${id}) is ${active ? 'active' : 'inactive'}.`;
}
