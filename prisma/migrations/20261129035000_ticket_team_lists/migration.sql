-- outside of a transaction
-- The index also contains tickets without a team, because `teamId=none` would otherwise read every ticket of the tenant.
-- With the other columns in the index, a list by team and one of them reads no rows of the table.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_team_idx"
  ON "tickets" ("tenant_id", "team_id", "id" DESC, "status", "priority", "type", "category");
DROP INDEX CONCURRENTLY IF EXISTS "tickets_tenant_id_team_id_id_idx";

-- Few tickets have a parent. In exchange for the index above, a ticket without one costs no entry here.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_parent_idx"
  ON "tickets" ("tenant_id", "parent_id") WHERE "parent_id" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "tickets_tenant_id_parent_id_idx";
