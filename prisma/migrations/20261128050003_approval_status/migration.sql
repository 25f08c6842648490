-- outside of a transaction
-- The result of the approvals of a ticket (docs/decisions/changes.md). The constraint is validated separately, so that no
-- statement locks the table while it reads all rows.
ALTER TABLE "tickets" ADD COLUMN IF NOT EXISTS "approval_status" text COLLATE "C" NOT NULL DEFAULT 'NONE';
ALTER TABLE "tickets"
  DROP CONSTRAINT IF EXISTS "tickets_approval_status_check",
  ADD CONSTRAINT "tickets_approval_status_check"
    CHECK ("approval_status" IN ('NONE', 'PENDING', 'APPROVED', 'REJECTED')) NOT VALID;
ALTER TABLE "tickets" VALIDATE CONSTRAINT "tickets_approval_status_check";

-- Tickets without approvals aren't in the index, so that it costs nothing for them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_approval_idx"
  ON "tickets" ("tenant_id", "approval_status", "id" DESC) WHERE "approval_status" <> 'NONE';
