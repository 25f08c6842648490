-- The definitions of custom fields (docs/decisions/custom-fields.md). A scheduled job counts the stored values that don't
-- fit their definition.
CREATE TABLE "custom_field_definitions" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "resource" text NOT NULL,
  "key" text NOT NULL,
  "type" text NOT NULL,
  "label" text NOT NULL,
  "description" text,
  "options" jsonb,
  "required" boolean NOT NULL DEFAULT false,
  "active" boolean NOT NULL DEFAULT true,
  "filterable" boolean NOT NULL DEFAULT false,
  "backfilled" boolean NOT NULL DEFAULT false,
  "backfilled_to" bigint,
  "nonconforming" integer NOT NULL DEFAULT 0,
  "counted_at" timestamptz(3),
  "version" integer NOT NULL DEFAULT 1,
  "created_at" timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz(3) NOT NULL,
  PRIMARY KEY ("tenant_id", "resource", "key"),
  CHECK ("resource" IN ('TICKET', 'ASSET')),
  CHECK ("type" IN ('TEXT', 'NUMBER', 'BOOLEAN', 'DATE', 'SELECT', 'MULTI_SELECT', 'USER')),
  FOREIGN KEY ("tenant_id") REFERENCES "tenants" ON UPDATE CASCADE ON DELETE RESTRICT
);

ALTER TABLE "custom_field_definitions" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "custom_field_definitions" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "custom_field_definitions" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON "custom_field_definitions" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "custom_field_definitions" TO "itsm_system";

-- Writes by jobs don't increment the version, so that a form that an administrator has open stays valid.
CREATE TRIGGER "custom_field_definitions_next_version" BEFORE UPDATE ON "custom_field_definitions"
  FOR EACH ROW WHEN ((NEW."nonconforming", NEW."counted_at", NEW."backfilled", NEW."backfilled_to")
    IS NOT DISTINCT FROM (OLD."nonconforming", OLD."counted_at", OLD."backfilled", OLD."backfilled_to"))
  EXECUTE FUNCTION next_version();

-- Every process caches whether a tenant has definitions (server/src/auth/api-keys/key-lookup.ts).
CREATE OR REPLACE FUNCTION "notify_api_keys"() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  changed jsonb := to_jsonb(coalesce(OLD, NEW));
BEGIN
  PERFORM pg_notify('api_keys', coalesce(changed ->> 'tenant_id', changed ->> 'id'));
  RETURN NULL;
END
$$;

CREATE TRIGGER "custom_field_definitions_notify_api_keys" AFTER INSERT ON "custom_field_definitions"
  FOR EACH ROW EXECUTE FUNCTION notify_api_keys();
