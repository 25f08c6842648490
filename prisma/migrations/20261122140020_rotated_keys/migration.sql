-- Which key another was made to take the place of. Requests follow it from their own key to the one that made a
-- subscription, and see nothing else of keys.
ALTER TABLE "api_keys" ADD COLUMN "rotated_from" BIGINT;
GRANT SELECT ("tenant_id", "id", "rotated_from") ON "api_keys" TO "itsm_request";
