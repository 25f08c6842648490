-- outside of a transaction
-- The foreign key is separate, because the migration that creates the table already locks the table tickets.
ALTER TABLE "attachments"
  DROP CONSTRAINT IF EXISTS "attachments_tenant_id_uploader_id_fkey",
  ADD CONSTRAINT "attachments_tenant_id_uploader_id_fkey"
    FOREIGN KEY ("tenant_id", "uploader_id") REFERENCES "users" ON UPDATE CASCADE ON DELETE RESTRICT;
