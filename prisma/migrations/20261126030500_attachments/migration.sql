-- The number of attachments of a ticket.
ALTER TABLE "tickets" ADD COLUMN "attachment_count" integer NOT NULL DEFAULT 0;

-- A file that is attached to a ticket. The content is in the storage, under the key storage_key. The server locks the
-- ticket before it writes an attachment.
CREATE TABLE "attachments" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "id" bigserial,
  "ticket_id" bigint NOT NULL,
  "name" text COLLATE "C" NOT NULL,
  "content_type" text COLLATE "C" NOT NULL,
  "size" bigint NOT NULL,
  "sha256" text COLLATE "C" NOT NULL,
  "storage_key" text COLLATE "C" NOT NULL,
  "uploader_id" bigint NOT NULL,
  "created_at" timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("tenant_id", "id"),
  FOREIGN KEY ("tenant_id", "ticket_id") REFERENCES "tickets" ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE UNIQUE INDEX "attachments_tenant_id_storage_key_key" ON "attachments" ("tenant_id", "storage_key");
CREATE INDEX "attachments_tenant_id_ticket_id_id_idx" ON "attachments" ("tenant_id", "ticket_id", "id" DESC);

ALTER TABLE "attachments" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "attachments" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "attachments" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, DELETE ON "attachments" TO "itsm_request";
GRANT USAGE ON SEQUENCE "attachments_id_seq" TO "itsm_request", "itsm_system";
GRANT SELECT, INSERT, UPDATE, DELETE ON "attachments" TO "itsm_system";

-- The number of bytes of a workspace's attachments, for the quota. Transactions that add or delete an attachment lock
-- the row. The table needs no foreign key, because attachments have one.
CREATE TABLE "attachment_usage" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "bytes" bigint NOT NULL,
  PRIMARY KEY ("tenant_id")
);

ALTER TABLE "attachment_usage" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "attachment_usage" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "attachment_usage" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON "attachment_usage" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "attachment_usage" TO "itsm_system";
