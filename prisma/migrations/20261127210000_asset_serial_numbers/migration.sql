-- outside of a transaction
-- The index of the filter `serialNumber` of assets (docs/decisions/pagination.md).
CREATE INDEX CONCURRENTLY IF NOT EXISTS "assets_tenant_id_serial_number_id_idx"
  ON "assets" ("tenant_id", "serial_number", "id" DESC) WHERE "serial_number" IS NOT NULL;
