-- The attachments that were deleted. A transaction that deletes an attachment records the key of its file here, so that
-- the file is deleted even if the process is killed after the commit (docs/decisions/attachments.md). The rows remain, so
-- that an administrator can repeat a redaction.
CREATE TABLE "deleted_attachments" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "ticket_id" bigint NOT NULL,
  "id" bigint NOT NULL,
  "storage_key" text COLLATE "C",
  PRIMARY KEY ("tenant_id", "ticket_id", "id"),
  -- A manipulated export must not delete the files of another tenant.
  CONSTRAINT "deleted_attachments_storage_key_check"
    CHECK ("storage_key" ~ ('^' || "tenant_id" || '/[0-9a-f-]{36}$'))
);
-- The files that the nightly job must delete.
CREATE INDEX "deleted_attachments_stored_idx" ON "deleted_attachments" ("tenant_id", "id") WHERE "storage_key" IS NOT NULL;

ALTER TABLE "deleted_attachments" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "deleted_attachments" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "deleted_attachments" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT INSERT ON "deleted_attachments" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "deleted_attachments" TO "itsm_system";
