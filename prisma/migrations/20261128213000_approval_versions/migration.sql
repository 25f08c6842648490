-- The versions of approvals, for their ETags (docs/decisions/changes.md).
ALTER TABLE "approvals"
  ADD COLUMN "version" integer NOT NULL DEFAULT 1,
  ADD COLUMN "updated_at" timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
CREATE TRIGGER "approvals_next_version" BEFORE UPDATE ON "approvals" FOR EACH ROW EXECUTE FUNCTION next_version();
