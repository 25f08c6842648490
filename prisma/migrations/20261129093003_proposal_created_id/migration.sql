-- outside of a transaction
-- A redaction finds the proposals that created its tickets and comments. Few proposals have created a row.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "proposals_created_idx" ON "proposals" ("tenant_id", "created_id")
  WHERE "created_id" IS NOT NULL;
