-- outside of a transaction
-- Contains the columns of most filters in the order of the ids. A list with several filters reads neither the table nor
-- tickets after its limit.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_filters_idx"
  ON "tickets" ("tenant_id", "id", "status", "priority", "type", "category", "requester_id", "assignee_id", "team_id",
    "created_at", "due_at", "category_config_id", "form_key", "approval_status", "planned_start_at", "planned_end_at",
    "parent_id");
