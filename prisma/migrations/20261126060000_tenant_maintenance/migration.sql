-- When maintenance of the tenant began, or null if the tenant is not in maintenance.
ALTER TABLE "tenants" ADD COLUMN "maintenance_since" timestamptz(3);

-- Cached API keys contain whether their tenant is in maintenance.
CREATE OR REPLACE TRIGGER "tenants_notify_api_keys" AFTER DELETE OR UPDATE OF "active", "maintenance_since" ON "tenants"
  FOR EACH ROW EXECUTE FUNCTION notify_api_keys();
