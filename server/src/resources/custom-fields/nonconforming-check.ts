import { CustomFieldResource, type CustomFields } from '@itsm-api/contract';
import type { SystemClient } from '../../database/client/prisma.ts';
import { identifier, sql, tenant } from '../../database/client/sql.ts';
import { command, manyAsJson, rows } from '../../database/client/statements.ts';
import { forEachTenant } from '../../database/tenant-maintenance.ts';
import { allowedValues, type FieldRules } from './rules.ts';
import { findMisfit, getFieldValue } from './value-checks.ts';

/**
 * Counts the stored values that don't fit their definitions, and stores the counts. Reads the rows of one tenant after
 * another, in batches. Resolves to the number of rows with custom fields.
 */
export function countNonconforming(prisma: SystemClient, size = 1000): Promise<number> {
  return forEachTenant(prisma, async ({ tenantId, inBatches }) => {
    const db = prisma.$tenant(tenantId);
    let read = 0;
    for (const resource of CustomFieldResource.options) {
      const countedAt = new Date();
      const definitions = await db.$sql(selectDefinitions, { resource });
      if (definitions.length === 0) continue;
      const counts = new Map(definitions.map(({ key }) => [key, 0]));
      let after = 0n;
      read += await inBatches(size, async () => {
        const batch = await db.$sql(selectFields[resource], { after, size });
        for (const { fields } of batch) {
          for (const definition of definitions) {
            const { key } = definition;
            const value = getFieldValue(fields, key);
            if (value !== null && findMisfit(definition, value)) counts.set(key, (counts.get(key) ?? 0) + 1);
          }
        }
        after = batch.at(-1)?.id ?? after;
        // Writes nothing if the maintenance of the tenant has stopped the batches before the last one.
        if (batch.length < size) {
          await db.$sql(writeCounts, { resource, counts: JSON.stringify(Object.fromEntries(counts)), countedAt });
        }
        return batch.length;
      });
    }
    return read;
  });
}

const selectDefinitions = manyAsJson<{ resource: CustomFieldResource }, FieldRules>(
  ({ resource }) => sql`SELECT key, type, required, active, ${allowedValues} AS allowed
    FROM custom_field_definitions WHERE tenant_id = ${tenant} AND resource = ${resource}`,
);

const selectFrom = (table: string) =>
  rows<{ after: bigint; size: number }, { id: bigint; fields: CustomFields }>(
    ({ after, size }) => sql`SELECT id, custom_fields AS fields FROM ${identifier(table)}
      WHERE tenant_id = ${tenant} AND id > ${after} AND custom_fields <> '{}' ORDER BY id LIMIT ${size}`,
  );
const selectFields = { TICKET: selectFrom('tickets'), ASSET: selectFrom('assets') };

const writeCounts = command<{ resource: CustomFieldResource; counts: string; countedAt: Date }>(
  ({ resource, counts, countedAt }) => sql`
    UPDATE custom_field_definitions SET nonconforming = count.value::int, counted_at = ${countedAt}::timestamptz
    FROM json_each_text(${counts}::json) AS count
    WHERE tenant_id = ${tenant} AND resource = ${resource} AND custom_field_definitions.key = count.key`,
);
