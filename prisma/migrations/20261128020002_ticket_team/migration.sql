-- outside of a transaction
-- The team of a ticket (docs/decisions/teams.md). The foreign key is validated separately, so that no statement locks the
-- table while it reads all rows.
ALTER TABLE "tickets" ADD COLUMN IF NOT EXISTS "team_id" bigint;
ALTER TABLE "tickets"
  DROP CONSTRAINT IF EXISTS "tickets_tenant_id_team_id_fkey",
  ADD CONSTRAINT "tickets_tenant_id_team_id_fkey"
    FOREIGN KEY ("tenant_id", "team_id") REFERENCES "teams" ON UPDATE CASCADE ON DELETE RESTRICT NOT VALID;
ALTER TABLE "tickets" VALIDATE CONSTRAINT "tickets_tenant_id_team_id_fkey";

-- Tickets without a team aren't in the index, so that the index costs nothing in a workspace without teams.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_tenant_id_team_id_id_idx"
  ON "tickets" ("tenant_id", "team_id", "id" DESC) WHERE "team_id" IS NOT NULL;
