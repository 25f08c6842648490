-- outside of a transaction

-- Checks all values of a ticket in one constraint that calls one function. PostgreSQL reads the text of each constraint
-- again in each statement, but compiles the function once per connection. The constraint is validated separately, so
-- that no statement locks the table while it reads all rows.
CREATE OR REPLACE FUNCTION has_known_values(type text, status text, priority text, category text,
  approval_status text, planned_start_at timestamptz, planned_end_at timestamptz) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN type IN ('INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST')
    AND status IN ('OPEN', 'IN_PROGRESS', 'PENDING', 'RESOLVED', 'CLOSED', 'CANCELLED')
    AND priority IN ('LOW', 'MEDIUM', 'HIGH', 'CRITICAL')
    AND category IN ('SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER')
    AND approval_status IN ('NONE', 'PENDING', 'APPROVED', 'REJECTED')
    AND (planned_start_at IS NULL AND planned_end_at IS NULL
      OR type = 'CHANGE' AND planned_start_at IS NOT NULL AND planned_end_at IS NOT NULL
        AND planned_start_at < planned_end_at);
END
$$;
ALTER TABLE "tickets"
  DROP CONSTRAINT IF EXISTS "tickets_planned_window_check",
  DROP CONSTRAINT IF EXISTS "tickets_approval_status_check",
  DROP CONSTRAINT IF EXISTS "tickets_values_check",
  ADD CONSTRAINT "tickets_values_check" CHECK (has_known_values("type", "status", "priority", "category",
    "approval_status", "planned_start_at", "planned_end_at")) NOT VALID;
ALTER TABLE "tickets" VALIDATE CONSTRAINT "tickets_values_check";
-- contract: not released
DROP FUNCTION IF EXISTS has_known_values(text, text, text, text);
