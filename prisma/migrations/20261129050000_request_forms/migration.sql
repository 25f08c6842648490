-- The forms with which users request something (docs/decisions/request-forms-design.md). The collation "C" gives the keys the
-- same order on every server. The index on plain_key rejects two keys that differ only in hyphens.
CREATE TABLE "request_forms" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "id" bigserial CHECK ("id" < 9007199254740992),
  "key" text COLLATE "C" NOT NULL,
  "plain_key" text COLLATE "C" NOT NULL,
  "name" text NOT NULL,
  "description" text,
  "active" boolean NOT NULL DEFAULT true,
  "type" text NOT NULL,
  "category" text,
  "category_config_id" text COLLATE "C",
  "priority" text NOT NULL DEFAULT 'MEDIUM',
  "team_id" bigint,
  "tags" text[] COLLATE "C" NOT NULL DEFAULT ARRAY[]::text[],
  "title_template" text,
  "fields" jsonb NOT NULL,
  "version" integer NOT NULL DEFAULT 1,
  "created_at" timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz(3) NOT NULL,
  PRIMARY KEY ("tenant_id", "id"),
  CHECK ("type" IN ('INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST')),
  CHECK ("category" IN ('SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER')),
  CHECK ("priority" IN ('LOW', 'MEDIUM', 'HIGH', 'CRITICAL')),
  FOREIGN KEY ("tenant_id") REFERENCES "tenants" ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE UNIQUE INDEX "request_forms_tenant_id_key_key" ON "request_forms" ("tenant_id", "key");
CREATE UNIQUE INDEX "request_forms_tenant_id_plain_key_key" ON "request_forms" ("tenant_id", "plain_key");
CREATE INDEX "request_forms_tenant_id_team_id_idx" ON "request_forms" ("tenant_id", "team_id");
CREATE TRIGGER "request_forms_next_version" BEFORE UPDATE ON "request_forms"
  FOR EACH ROW EXECUTE FUNCTION next_version();
SELECT protect_table('request_forms', 'SELECT, INSERT, UPDATE'), add_change_feed('request_forms');
