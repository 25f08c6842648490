-- outside of a transaction
-- Contains the columns of most filters in the order of the ids. A list with several filters reads neither the table nor
-- tickets after its limit.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_filters_idx"
  ON "tickets" ("tenant_id", "id", "status", "priority", "type", "category", "requester_id", "assignee_id", "team_id",
    "created_at", "due_at", "category_config_id", "form_key", "approval_status", "planned_start_at", "planned_end_at",
    "parent_id");

-- Few tickets have a window, approvals or a parent, so these indexes cost other tickets nothing. With the columns of the other
-- filters, a list reads no rows of the table to count its tickets.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_planned_filters_idx"
  ON "tickets" ("tenant_id", "planned_end_at" DESC, "planned_start_at", "id" DESC, "status", "priority", "type",
    "category", "requester_id", "assignee_id", "team_id", "created_at", "due_at", "category_config_id", "form_key",
    "approval_status", "parent_id")
  WHERE "planned_end_at" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "tickets_planned_idx";

CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_approval_filters_idx"
  ON "tickets" ("tenant_id", "approval_status", "id" DESC, "status", "priority", "type", "category", "requester_id",
    "assignee_id", "team_id", "created_at", "due_at", "category_config_id", "form_key", "planned_start_at",
    "planned_end_at", "parent_id")
  WHERE "approval_status" <> 'NONE';
DROP INDEX CONCURRENTLY IF EXISTS "tickets_approval_idx";

CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_parent_filters_idx"
  ON "tickets" ("tenant_id", "parent_id", "id" DESC, "status", "priority", "type", "category", "requester_id",
    "assignee_id", "team_id", "created_at", "due_at", "category_config_id", "form_key", "approval_status",
    "planned_start_at", "planned_end_at")
  WHERE "parent_id" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "tickets_parent_idx";
