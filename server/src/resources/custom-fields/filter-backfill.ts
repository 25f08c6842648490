import type { CustomFieldResource } from '@itsm-api/contract';
import type { SystemClient } from '../../database/client/prisma.ts';
import { empty, identifier, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { allTenants, command, type None, rows } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { notInMaintenance, toJobTenant } from '../../database/tenant-maintenance.ts';
import { waitForTransactions } from '../../database/transaction-horizon.ts';
import { toTenantId } from '../../shared/tenant-id.ts';

/*
 * Copies the values of filterable custom fields to the tables that the filters read, and deletes the copies of fields
 * that are no longer filterable (docs/decisions/custom-fields-design.md#filters).
 *
 * Triggers copy the values of each new and changed row, but a transaction that was running when a definition changed
 * may not have seen the change. The job therefore first waits for these transactions. It locks the rows that it copies,
 * so that no other transaction changes them in the meantime.
 */

/** Brings the copies of all tenants up to date. Resolves to the number of rows that it read or deleted. */
export async function backfillFilters(prisma: SystemClient, size = 1000): Promise<number> {
  const pending = await prisma.$sql(selectPending);
  if (pending.length === 0) return 0;
  await waitForTransactions(prisma);
  let changed = 0;
  for (const { tenant_id, ...field } of pending) {
    const { tenantId, inBatches } = toJobTenant(prisma, toTenantId(tenant_id));
    const work = (field.filterable ? copyBatches : deleteBatches)(prisma.$tenant(tenantId), field, size);
    changed += await inBatches(size, work);
  }
  return changed;
}

/** A definition whose copies are incomplete, or not yet deleted. */
interface Pending {
  tenant_id: bigint;
  resource: CustomFieldResource;
  key: string;
  filterable: boolean;
  backfilled_to: bigint | null;
}

const selectPending = allTenants.rows<None, Pending>(
  () => sql`SELECT d.tenant_id, d.resource, d.key, d.filterable, d.backfilled_to FROM custom_field_definitions d
    JOIN tenants t ON t.id = d.tenant_id AND ${notInMaintenance}
    WHERE CASE WHEN d.filterable THEN NOT d.backfilled ELSE d.backfilled_to IS NOT NULL END`,
);

type Field = Pick<Pending, 'resource' | 'key'>;

/** Returns a function that copies the next batch of values of a field, and returns the number of rows that it read. */
function copyBatches(db: TenantClient, { resource, key, backfilled_to }: Omit<Pending, 'tenant_id'>, size: number) {
  let backfilledTo = backfilled_to ?? 0n;
  return async (): Promise<number> => {
    const [batch] = await db.$sql(copyBatch[resource], { key, after: backfilledTo, size });
    const { count = 0, last } = batch ?? {};
    backfilledTo = last ?? backfilledTo;
    await db.$sql(writeProgress, { resource, key, backfilledTo, isBackfilled: count < size });
    return count;
  };
}

/** Returns a function that deletes the next batch of copies of a field, and returns their number. */
function deleteBatches(db: TenantClient, { resource, key }: Field, size: number) {
  return async (): Promise<number> => {
    const deleted = (await db.$sql(deleteBatch[resource], { key, size })).length;
    if (deleted < size) await db.$sql(endDeletion, { resource, key });
    return deleted;
  };
}

const writeProgress = command<Field & { backfilledTo: bigint; isBackfilled: boolean }>(
  ({ resource, key, backfilledTo, isBackfilled }) => sql`UPDATE custom_field_definitions
    SET backfilled_to = greatest(backfilled_to, ${backfilledTo}::bigint), backfilled = backfilled OR ${isBackfilled}
    WHERE tenant_id = ${tenant} AND resource = ${resource} AND key = ${key} AND filterable`,
);

const endDeletion = command<Field>(
  ({ resource, key }) => sql`UPDATE custom_field_definitions SET backfilled_to = NULL, backfilled = false
    WHERE tenant_id = ${tenant} AND resource = ${resource} AND key = ${key} AND NOT filterable`,
);

const tables = {
  TICKET: { source: 'tickets', values: 'ticket_field_values', id: 'ticket_id', also: sql`, status` },
  ASSET: { source: 'assets', values: 'asset_field_values', id: 'asset_id', also: empty },
} satisfies Record<CustomFieldResource, { source: string; values: string; id: string; also: Sql }>;

const defineCopy = (resource: CustomFieldResource) => {
  const { source, values, id, also } = tables[resource];
  return rows<{ key: string; after: bigint; size: number }, { count: number; last: bigint | null }>(
    ({ key, after, size }) => sql`WITH page AS MATERIALIZED (
        SELECT id FROM ${identifier(source)} WHERE tenant_id = ${tenant} AND id > ${after} ORDER BY id LIMIT ${size}
      ), locked AS (
        SELECT id, custom_fields ${also} FROM ${identifier(source)}
        WHERE tenant_id = ${tenant} AND id IN (SELECT id FROM page) AND custom_fields ? ${key}::text
        ORDER BY id FOR NO KEY UPDATE
      ), copied AS (
        INSERT INTO ${identifier(values)} (tenant_id, ${identifier(id)}, key, value ${also})
        SELECT ${tenant}, id, v.key, v.value ${also}
        FROM locked CROSS JOIN LATERAL filterable_values(${tenant}, ${resource}, custom_fields) AS v
        WHERE v.key = ${key} ON CONFLICT DO NOTHING
      )
      SELECT count(*)::int AS count, max(id) AS last FROM page`,
  );
};
const copyBatch = { TICKET: defineCopy('TICKET'), ASSET: defineCopy('ASSET') };

const defineDelete = (resource: CustomFieldResource) => {
  const { values, id } = tables[resource];
  return rows<{ key: string; size: number }, object>(
    ({ key, size }) => sql`DELETE FROM ${identifier(values)}
      WHERE tenant_id = ${tenant} AND key = ${key} AND (${identifier(id)}, value) IN (
        SELECT ${identifier(id)}, value FROM ${identifier(values)}
        WHERE tenant_id = ${tenant} AND key = ${key} LIMIT ${size}
      ) RETURNING ${identifier(id)}`,
  );
};
const deleteBatch = { TICKET: defineDelete('TICKET'), ASSET: defineDelete('ASSET') };
