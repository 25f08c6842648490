-- outside of a transaction
-- The planned window of a CHANGE (docs/decisions/changes.md). The constraint is validated separately, so that no statement
-- locks the table while it reads all rows.
ALTER TABLE "tickets"
  ADD COLUMN IF NOT EXISTS "planned_start_at" timestamptz(3),
  ADD COLUMN IF NOT EXISTS "planned_end_at" timestamptz(3);
ALTER TABLE "tickets"
  DROP CONSTRAINT IF EXISTS "tickets_planned_window_check",
  ADD CONSTRAINT "tickets_planned_window_check" CHECK (
    "planned_start_at" IS NULL AND "planned_end_at" IS NULL
    OR "type" = 'CHANGE' AND "planned_start_at" IS NOT NULL AND "planned_end_at" IS NOT NULL
      AND "planned_start_at" < "planned_end_at"
  ) NOT VALID;
ALTER TABLE "tickets" VALIDATE CONSTRAINT "tickets_planned_window_check";

-- The filters plannedSince and plannedBefore. Tickets without a window aren't in the index. With the status in the index,
-- a filter by the status reads no rows of the table.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_planned_idx"
  ON "tickets" ("tenant_id", "planned_end_at" DESC, "planned_start_at", "id" DESC, "status")
  WHERE "planned_end_at" IS NOT NULL;
