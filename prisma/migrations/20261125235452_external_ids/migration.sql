-- outside of a transaction
-- The ids of tickets, comments and assets in other systems (docs/decisions/external-ids.md).
ALTER TABLE "tickets" ADD COLUMN IF NOT EXISTS "external_id" text COLLATE "C";
ALTER TABLE "comments" ADD COLUMN IF NOT EXISTS "external_id" text COLLATE "C";
ALTER TABLE "assets" ADD COLUMN IF NOT EXISTS "external_id" text COLLATE "C";

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "tickets_tenant_id_external_id_key"
  ON "tickets" ("tenant_id", "external_id") WHERE "external_id" IS NOT NULL;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "comments_tenant_id_external_id_key"
  ON "comments" ("tenant_id", "external_id") WHERE "external_id" IS NOT NULL;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "assets_tenant_id_external_id_key"
  ON "assets" ("tenant_id", "external_id") WHERE "external_id" IS NOT NULL;
