-- outside of a transaction
-- The index of the filter categoryConfigId. Tickets without a value aren't in the index, so that it costs nothing for them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_tenant_id_category_config_id_id_idx"
  ON "tickets" ("tenant_id", "category_config_id", "id" DESC) WHERE "category_config_id" IS NOT NULL;
