-- The rules of a workspace for the expiry of new and rotated API keys. A workspace without a row has no rules.
CREATE TABLE "key_policies" (
  "tenant_id" bigint PRIMARY KEY DEFAULT 0,
  "max_lifetime_days" integer,
  "expiry_required" boolean NOT NULL DEFAULT false,
  FOREIGN KEY ("tenant_id") REFERENCES "tenants" ON UPDATE CASCADE ON DELETE RESTRICT
);

ALTER TABLE "key_policies" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "key_policies" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "key_policies" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON "key_policies" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "key_policies" TO "itsm_system";
