-- The categories of tickets that a tenant defines. The collation "C" gives the ids the same order on every server. A
-- trigger increments version, which is part of the ETag.
CREATE TABLE "ticket_categories" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "id" text COLLATE "C" NOT NULL,
  "name" text NOT NULL,
  "parent_id" text COLLATE "C",
  "category" text COLLATE "C",
  "active" boolean NOT NULL DEFAULT true,
  "version" integer NOT NULL DEFAULT 1,
  "created_at" timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz(3) NOT NULL,
  PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "ticket_categories_category_check"
    CHECK ("category" IN ('SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER')),
  FOREIGN KEY ("tenant_id") REFERENCES "tenants" ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY ("tenant_id", "parent_id") REFERENCES "ticket_categories" ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON "ticket_categories" ("tenant_id", "parent_id");

ALTER TABLE "ticket_categories" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "ticket_categories" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "ticket_categories" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON "ticket_categories" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "ticket_categories" TO "itsm_system";

CREATE TRIGGER "ticket_categories_next_version" BEFORE UPDATE ON "ticket_categories"
  FOR EACH ROW EXECUTE FUNCTION next_version();
