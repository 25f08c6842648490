-- What came of a delivery is told by the API now, but for the answers of private networks: those that can't have come of
-- one have a column of their own, and requests are shown no other.
ALTER TABLE "delivery_attempts" ADD COLUMN "public_answer" TEXT;
GRANT SELECT ("tenant_id", "id", "delivery_id", "number", "started_at", "duration_ms", "status", "error", "public_answer")
  ON "delivery_attempts" TO "itsm_request";
