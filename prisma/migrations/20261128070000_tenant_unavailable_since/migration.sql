-- When the maintenance of the tenant began to stop reads. Null while the tenant is read-only or not in maintenance.
ALTER TABLE "tenants" ADD COLUMN "unavailable_since" timestamptz(3);
UPDATE "tenants" SET "unavailable_since" = "maintenance_since" WHERE "maintenance_since" IS NOT NULL;

-- Cached API keys contain whether the server rejects reads of their tenant.
CREATE OR REPLACE TRIGGER "tenants_notify_api_keys"
  AFTER DELETE OR UPDATE OF "active", "maintenance_since", "unavailable_since", "incomplete" ON "tenants"
  FOR EACH ROW EXECUTE FUNCTION notify_api_keys();
