import type { Databases } from '../../database/client/databases.ts';
import { withDedicatedConnection } from '../../database/client/dedicated-connection.ts';
import { type TenantId, toTenantId } from '../../shared/tenant-id.ts';

/** An asset whose tag isn't normalized (docs/decisions/data-model.md#assets). */
export interface UnnormalizedTag {
  tenantId: TenantId;
  assetId: number;
  /** The normalized tag. */
  assetTag: string;
  /** The asset that has the normalized tag, or null if no asset has it. */
  otherId: number | null;
}

/** The statement timeout in milliseconds. The check reads the tags of all assets. */
const maxCheckMs = 10 * 60_000;

/** Finds the assets whose tags aren't normalized. @param max the maximum number of assets to return */
export async function findUnnormalizedTags(options: Databases['options'], max: number): Promise<UnnormalizedTag[]> {
  type Row = Omit<UnnormalizedTag, 'tenantId'> & { tenantId: string };
  const purpose = { name: 'asset tags', statementMs: maxCheckMs };
  const { rows } = await withDedicatedConnection<{ rows: Row[] }>(options, purpose, (connection) =>
    connection.query(select, [max]),
  );
  return rows.map((row) => ({ ...row, tenantId: toTenantId(row.tenantId) }));
}

const select = `
  SELECT a.tenant_id AS "tenantId", a.id::float8 AS "assetId", visible_text(a.asset_tag) AS "assetTag",
    other.id::float8 AS "otherId"
  FROM assets a
  LEFT JOIN assets other ON other.tenant_id = a.tenant_id AND other.asset_tag = visible_text(a.asset_tag)
  WHERE octet_length(a.asset_tag) > length(a.asset_tag) AND a.asset_tag <> visible_text(a.asset_tag)
  ORDER BY a.tenant_id, a.id LIMIT $1`;
