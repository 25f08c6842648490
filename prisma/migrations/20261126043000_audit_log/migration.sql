-- outside of a transaction
-- An audit entry stores the ids of the actor and the target, and what changed (docs/decisions/audit-log.md). Existing
-- entries keep the display name in the column "subject".
ALTER TABLE "audit_entries" ADD COLUMN IF NOT EXISTS "key_id" bigint,
  ADD COLUMN IF NOT EXISTS "os_user" text COLLATE "C",
  ADD COLUMN IF NOT EXISTS "target_type" text COLLATE "C",
  ADD COLUMN IF NOT EXISTS "target_id" bigint,
  ADD COLUMN IF NOT EXISTS "changes" jsonb,
  ADD COLUMN IF NOT EXISTS "count" integer NOT NULL DEFAULT 1;

-- The filters of the audit log.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_tenant_id_os_user_id_idx"
  ON "audit_entries" ("tenant_id", "os_user", "id" DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_tenant_id_target_type_target_id_id_idx"
  ON "audit_entries" ("tenant_id", "target_type", "target_id", "id" DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_tenant_id_at_idx" ON "audit_entries" ("tenant_id", "at");
