-- Requests that wait for the decision of a person (docs/decisions/proposals-design.md). The type json keeps the order of
-- fields.
CREATE TABLE "proposals" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "id" bigserial CHECK ("id" < 9007199254740992),
  "operation" text COLLATE "C" NOT NULL,
  "params" json NOT NULL,
  "body" json,
  "reason" text NOT NULL,
  "if_match" text,
  "status" text COLLATE "C" NOT NULL DEFAULT 'PENDING'
    CONSTRAINT "proposals_status_check"
    CHECK ("status" IN ('PENDING', 'ACCEPTED', 'REJECTED', 'STALE', 'EXPIRED', 'WITHDRAWN')),
  "target" text COLLATE "C",
  "preview" json NOT NULL,
  "result" json,
  "created_id" bigint,
  "note" text,
  "proposed_by_id" bigint NOT NULL,
  "key_id" bigint NOT NULL,
  "decided_by_id" bigint,
  "expires_at" timestamptz(3) NOT NULL,
  "ended_at" timestamptz(3),
  "version" integer NOT NULL DEFAULT 1,
  "created_at" timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz(3) NOT NULL,
  PRIMARY KEY ("tenant_id", "id"),
  FOREIGN KEY ("tenant_id", "key_id") REFERENCES "api_keys" ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX "proposals_tenant_id_status_id_idx" ON "proposals" ("tenant_id", "status", "id" DESC);
CREATE INDEX "proposals_tenant_id_operation_id_idx" ON "proposals" ("tenant_id", "operation", "id" DESC);
CREATE INDEX "proposals_tenant_id_target_id_idx" ON "proposals" ("tenant_id", "target", "id" DESC);
CREATE INDEX "proposals_tenant_id_proposed_by_id_id_idx" ON "proposals" ("tenant_id", "proposed_by_id", "id" DESC);
CREATE TRIGGER "proposals_next_version" BEFORE UPDATE ON "proposals" FOR EACH ROW EXECUTE FUNCTION next_version();
SELECT protect_table('proposals', 'SELECT, INSERT, UPDATE');
