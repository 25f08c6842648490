-- The approval of a change by one user. The server locks the ticket before it writes an approval.
CREATE TABLE "approvals" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "id" bigserial CHECK ("id" < 9007199254740992),
  "ticket_id" bigint NOT NULL,
  "approver_id" bigint NOT NULL,
  "created_by_id" bigint NOT NULL,
  "note" text,
  "decision" text COLLATE "C" NOT NULL DEFAULT 'PENDING'
    CONSTRAINT "approvals_decision_check" CHECK ("decision" IN ('PENDING', 'APPROVED', 'REJECTED')),
  "comment" text,
  "decided_at" timestamptz(3),
  "created_at" timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("tenant_id", "id"),
  FOREIGN KEY ("tenant_id", "ticket_id") REFERENCES "tickets" ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE UNIQUE INDEX "approvals_tenant_id_ticket_id_approver_id_key"
  ON "approvals" ("tenant_id", "ticket_id", "approver_id");
CREATE INDEX ON "approvals" ("tenant_id", "ticket_id", "id" DESC);
CREATE INDEX ON "approvals" ("tenant_id", "approver_id", "id" DESC);
CREATE INDEX ON "approvals" ("tenant_id", "decision", "id" DESC);

ALTER TABLE "approvals" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "approvals" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "approvals" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON "approvals" TO "itsm_request";
GRANT USAGE ON SEQUENCE "approvals_id_seq" TO "itsm_request", "itsm_system";
GRANT SELECT, INSERT, UPDATE, DELETE ON "approvals" TO "itsm_system";
