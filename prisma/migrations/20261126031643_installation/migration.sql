-- The installation. Its id marks the store of attachments, so that a process can't use the store of another database.
CREATE TABLE "installation" (
  "installation_id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "attachments_marked_at" timestamptz(3),
  PRIMARY KEY ("installation_id")
);
-- The only row.
INSERT INTO "installation" DEFAULT VALUES;
GRANT SELECT, INSERT, UPDATE, DELETE ON "installation" TO "itsm_system";
