-- outside of a transaction
-- The statements change two tables and build indexes.
ALTER TABLE "tickets"
  ADD COLUMN IF NOT EXISTS "first_response_due_at" timestamptz(3),
  ADD COLUMN IF NOT EXISTS "paused_since" timestamptz(3),
  ADD COLUMN IF NOT EXISTS "paused_open_time" bigint,
  ADD COLUMN IF NOT EXISTS "imported" boolean NOT NULL DEFAULT false;

ALTER TABLE "ticket_sequences"
  ADD COLUMN IF NOT EXISTS "first_response_targets" jsonb,
  ADD COLUMN IF NOT EXISTS "business_hours" jsonb,
  ADD COLUMN IF NOT EXISTS "pauses_while_pending" boolean NOT NULL DEFAULT false;

-- With the start of the pause and the columns of the other filters in the index, the filter `overdue` reads no rows of
-- the table to count tickets.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_overdue_filters_idx"
  ON "tickets" ("tenant_id", "due_at" DESC, "id" DESC, "status", "paused_since", "priority", "type", "category",
    "requester_id", "assignee_id", "team_id", "created_at", "category_config_id", "form_key", "approval_status",
    "planned_start_at", "planned_end_at", "parent_id")
  WHERE "due_at" IS NOT NULL AND "status" IN ('OPEN', 'IN_PROGRESS', 'PENDING');
DROP INDEX CONCURRENTLY IF EXISTS "tickets_overdue_idx";

CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_first_response_overdue_idx"
  ON "tickets" ("tenant_id", "first_response_due_at" DESC, "id" DESC, "status")
  WHERE "first_response_due_at" IS NOT NULL AND "first_responded_at" IS NULL
    AND "status" IN ('OPEN', 'IN_PROGRESS', 'PENDING');
