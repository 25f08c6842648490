import { NewUser, type TargetMinutes, trimmedText, type User } from '@itsm-api/contract';
import * as z from 'zod';
import type { Prisma } from '../../../generated/prisma/client.ts';
import type { Database, SystemClient, SystemDatabase } from '../../database/client/prisma.ts';
import { tenantClient } from '../../database/client/tenant-client.ts';
import { createUnique } from '../../database/client/unique-violation.ts';
import { ApiError, invalidField, takenBy } from '../../shared/errors.ts';
import { serializeId, serializeTimestamp, serializeTimestamps } from '../../shared/serialize.ts';
import { toTenantId } from '../../shared/tenant-id.ts';
import { auditChanges, auditRow, type NewAuditEntry, recordAudit } from '../audit/audit-entry.ts';
import {
  type BusinessHoursPatch,
  getBusinessHours,
  presentTargets,
  writeBusinessHours,
} from '../business-hours/queries.ts';
import { type Context, type Services, transaction } from '../shared/context.ts';
import { toNameKey } from '../shared/name-key.ts';
import { presentUser } from '../users/queries.ts';

/**
 * A workspace. The API has no endpoint for workspaces, because an API key can access only its own workspace (spec
 * §1.2).
 */
export interface Tenant {
  id: number;
  name: string;
  active: boolean;
  /** When maintenance began, or null if the tenant is not in maintenance. */
  maintenanceSince: string | null;
  /** When maintenance began to stop reads. Null while the tenant is read-only or not in maintenance. */
  unavailableSince: string | null;
  createdAt: string;
  updatedAt: string;
}

const Name = trimmedText(1, 255).refine(
  (name) => !isId(name),
  'must not consist only of digits, because it would look like an id',
);

/**
 * The input for a new tenant and its first user, who becomes an ADMIN. The user's default name is the local part of the
 * email address.
 */
export const NewTenant = z.strictObject({
  name: Name,
  adminEmail: NewUser.shape.email,
  adminName: NewUser.shape.name.optional(),
});
export type NewTenant = z.output<typeof NewTenant>;

/** The input for updating a tenant. */
export const TenantPatch = z.strictObject({ name: Name });
export type TenantPatch = z.output<typeof TenantPatch>;

/** The settings of a tenant, and the numbers of users, API keys and other resources in it. */
interface TenantDetails {
  users: number;
  /** The number of API keys that are not revoked. */
  keys: number;
  tickets: number;
  assets: number;
  projects: number;
  /** The number of active webhook subscriptions. */
  webhooks: number;
  resolutionTargets: TargetMinutes;
  firstResponseTargets: TargetMinutes;
}

/**
 * Creates a tenant with its first user.
 * @throws ApiError VALIDATION_ERROR if another tenant has the same normalized name (`toNameKey`)
 */
export async function createTenant(
  prisma: SystemClient,
  { name, adminEmail, adminName = adminEmail.slice(0, adminEmail.indexOf('@')) }: NewTenant,
  actor: Pick<Services, 'osUser'> = {},
): Promise<{ tenant: Tenant; admin: User }> {
  // One transaction creates the tenant and its user, so every tenant has a user.
  const { users, ...tenant } = await createUnique('name', takenBy('tenant', name), () =>
    prisma.$transaction(async () => {
      const created = await prisma.tenant.create({
        data: {
          name,
          nameKey: toNameKey(name),
          users: { create: { name: adminName, email: adminEmail, role: 'ADMIN' } },
        },
        include: { users: true },
      });
      const entries: NewAuditEntry[] = [
        { action: 'workspace.created', target: { type: 'workspace', id: created.id } },
        ...created.users.map(({ id, role }) => ({
          action: 'user.created',
          target: { type: 'user' as const, id },
          changes: auditChanges({}, { role }, ['role']),
        })),
      ];
      await prisma.auditEntry.createMany({
        data: entries.map((entry) => ({ tenantId: created.id, ...auditRow(actor, entry) })),
      });
      return created;
    }),
  );
  const [admin] = users.map(presentUser);
  if (admin === undefined) throw new Error('The tenant was created without its user.');
  return { tenant: presentTenant(tenant), admin };
}

/** Returns all tenants, including inactive ones, sorted by name. */
export async function listTenants(prisma: SystemClient): Promise<Tenant[]> {
  return (await prisma.tenant.findMany({ orderBy: { nameKey: 'asc' } })).map(presentTenant);
}

/**
 * Finds a tenant by name or id. Names are compared in normalized form. A text that consists of digits is an id.
 * @throws ApiError NOT_FOUND
 */
export async function findTenant(prisma: SystemClient, nameOrId: string): Promise<Tenant> {
  const name = nameOrId.trim();
  const where = isId(name) ? { id: BigInt(name) > maxId ? -1n : BigInt(name) } : { nameKey: toNameKey(name) };
  const row = await prisma.tenant.findUnique({ where });
  if (row === null)
    throw new ApiError(
      'NOT_FOUND',
      `No tenant has the ${isId(name) ? 'id' : 'name'} ${name}. List the tenants with \`tenants list\`.`,
    );
  return presentTenant(row);
}

/** Returns a tenant, its settings, and the numbers of its users, API keys and other resources. @throws ApiError NOT_FOUND */
export async function describeTenant(prisma: SystemClient, nameOrId: string): Promise<Tenant & TenantDetails> {
  const tenant = await findTenant(prisma, nameOrId);
  const where = { tenantId: tenant.id };
  const [users, keys, sequence, assets, projects, webhooks] = await Promise.all([
    prisma.user.count({ where }),
    prisma.apiKey.count({ where: { ...where, revokedAt: null } }),
    // The last ordinal equals the number of tickets, because tickets are never deleted.
    prisma.ticketSequence.findUnique({
      where,
      select: { total: true, resolutionTargets: true, firstResponseTargets: true },
    }),
    prisma.asset.count({ where }),
    prisma.project.count({ where }),
    prisma.webhookSubscription.count({ where: { ...where, active: true } }),
  ]);
  return {
    ...tenant,
    ...{ users, keys, tickets: sequence?.total ?? 0, assets, projects, webhooks },
    resolutionTargets: presentTargets(sequence?.resolutionTargets),
    firstResponseTargets: presentTargets(sequence?.firstResponseTargets),
  };
}

/**
 * Updates the name and the targets of a tenant.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if the name is already in use or a target is too long
 */
export async function updateTenant(
  sources: Sources,
  nameOrId: string,
  { name, targets }: Partial<TenantPatch> & Pick<BusinessHoursPatch, 'targets'>,
): Promise<Tenant & Pick<TenantDetails, 'resolutionTargets' | 'firstResponseTargets'>> {
  const { prisma } = sources.databases.system;
  const { id, name: before } = await findTenant(prisma, nameOrId);
  return transaction(createContext(sources, { id }), async (context) => {
    if (name !== undefined) {
      const update = () => prisma.tenant.update({ where: { id }, data: { name, nameKey: toNameKey(name) } });
      await createUnique('name', takenBy('tenant', name), update);
    }
    const changes = await writeBusinessHours(context, { targets });
    const tenant = await findTenant(prisma, String(id));
    await recordAudit(context, {
      action: 'settings.updated',
      target: targetOf(tenant),
      changes: { ...auditChanges({ name: before }, { name: tenant.name }, [], ['name']), ...changes },
    });
    const { resolution, firstResponse } = (await getBusinessHours(context)).targets;
    return { ...tenant, resolutionTargets: resolution, firstResponseTargets: firstResponse };
  });
}

/** Returns the target of an audit entry about a tenant. */
export function targetOf({ id }: { id: number | bigint }) {
  return { type: 'workspace', id } as const;
}

/**
 * Deactivates a tenant and ends the sessions of its users. Within a second, the server also rejects the tenant's API
 * keys. A repeated call has no effect.
 * @throws ApiError NOT_FOUND
 */
export async function deactivateTenant(sources: Sources, nameOrId: string): Promise<Tenant> {
  return setActive(sources, nameOrId, false);
}

/** Activates a tenant. Its API keys become valid again. @throws ApiError NOT_FOUND */
export async function activateTenant(sources: Sources, nameOrId: string): Promise<Tenant> {
  return setActive(sources, nameOrId, true);
}

async function setActive(sources: Sources, nameOrId: string, active: boolean): Promise<Tenant> {
  const { prisma } = sources.databases.system;
  const { id } = await findTenant(prisma, nameOrId);
  return transaction(createContext(sources, { id }), async (context) => {
    const { count } = await prisma.tenant.updateMany({ where: { id, active: !active }, data: { active } });
    if (!active) await context.db.session.updateMany({ where: { endedAt: null }, data: { endedAt: new Date() } });
    const action = active ? 'workspace.activated' : 'workspace.deactivated';
    if (count > 0) await recordAudit(context, { action, target: targetOf({ id }) });
    return findTenant(prisma, String(id));
  });
}

/** The databases and services that a context needs outside a request. */
export interface Sources {
  databases: { system: SystemDatabase };
  services: Services;
}

interface RequestSources extends Sources {
  databases: { system: SystemDatabase; requests: Database };
}

/** Returns a tenant's context for code that runs outside a request. @throws ApiError NOT_FOUND */
export async function tenantContext(sources: Sources, nameOrId: string): Promise<Context> {
  return createContext(sources, await findTenant(sources.databases.system.prisma, nameOrId));
}

/**
 * Returns an active tenant's context. Use this context to create resources.
 * @throws ApiError NOT_FOUND, or VALIDATION_ERROR if the tenant is inactive
 */
export async function activeTenantContext(sources: Sources, nameOrId: string): Promise<Context> {
  const tenant = await findTenant(sources.databases.system.prisma, nameOrId);
  if (!tenant.active) {
    throw invalidField('VALIDATION_ERROR', 'tenant', `${tenant.name} is inactive. Activate it first.`);
  }
  return createContext(sources, tenant);
}

/**
 * Returns a tenant's context with the database role for requests. Full-text search requires this role.
 * @throws ApiError NOT_FOUND
 */
export async function requestContext(sources: RequestSources, nameOrId: string): Promise<Context> {
  const { id } = await findTenant(sources.databases.system.prisma, nameOrId);
  return { ...sources.services, db: tenantClient(sources.databases.requests, toTenantId(id)) };
}

/**
 * Returns the context for the tenant that owns an API key. A tenant that was moved from another cell keeps its ids, so
 * several tenants can have a key with the same id.
 * @param tenant the name or id of the tenant; required if several tenants have a key with this id
 * @throws ApiError NOT_FOUND if the key doesn't exist, or VALIDATION_ERROR if several keys have this id
 */
export async function keyContext(sources: Sources, id: number, tenant?: string): Promise<Context> {
  if (tenant !== undefined) return tenantContext(sources, tenant);
  const { prisma } = sources.databases.system;
  const [key, other] = await prisma.apiKey.findMany({ where: { id }, select: { tenantId: true }, take: 2 });
  if (key === undefined) {
    throw new ApiError('NOT_FOUND', `No API key has the id ${id}. List the keys with \`keys list\`.`);
  }
  if (other !== undefined) {
    throw invalidField(
      'VALIDATION_ERROR',
      'tenant',
      `is required, because several tenants have a key with the id ${id}.`,
    );
  }
  return createContext(sources, { id: serializeId(key.tenantId) });
}

function createContext({ databases, services }: Sources, { id }: Pick<Tenant, 'id'>): Context {
  return { ...services, db: tenantClient(databases.system, toTenantId(id)), checksMaintenance: true };
}

/** The largest possible id: the maximum value of a PostgreSQL bigint. */
const maxId = 2n ** 63n - 1n;

function isId(nameOrId: string): boolean {
  return /^\d+$/.test(nameOrId);
}

function presentTenant(row: Prisma.TenantGetPayload<object>): Tenant {
  const { id, name, active, maintenanceSince, unavailableSince } = row;
  return {
    ...{ id: serializeId(id), name, active },
    ...{
      maintenanceSince: serializeTimestamp(maintenanceSince),
      unavailableSince: serializeTimestamp(unavailableSince),
    },
    ...serializeTimestamps(row),
  };
}
