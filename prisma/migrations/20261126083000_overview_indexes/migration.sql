-- outside of a transaction
-- The overview of the developer area lists the API keys that expire soon.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "api_keys_tenant_id_expires_at_idx" ON "api_keys" ("tenant_id", "expires_at");
-- The list of users shows the last sign-in of each user, and filters by users who were invited and haven't joined.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "sessions_tenant_id_user_id_id_idx" ON "sessions" ("tenant_id", "user_id", "id" DESC);
DROP INDEX CONCURRENTLY IF EXISTS "sessions_tenant_id_user_id_idx";
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invitations_unused_idx" ON "invitations" ("tenant_id", "user_id") WHERE "used_at" IS NULL;
-- The filter of the audit log by the type of the target.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_tenant_id_target_type_id_idx"
  ON "audit_entries" ("tenant_id", "target_type", "id" DESC);
