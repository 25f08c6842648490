-- outside of a transaction
-- The foreign keys lock the approvals and the users.
ALTER TABLE "approvals"
  DROP CONSTRAINT IF EXISTS "approvals_tenant_id_approver_id_fkey",
  ADD CONSTRAINT "approvals_tenant_id_approver_id_fkey"
    FOREIGN KEY ("tenant_id", "approver_id") REFERENCES "users" ON UPDATE CASCADE ON DELETE RESTRICT,
  DROP CONSTRAINT IF EXISTS "approvals_tenant_id_created_by_id_fkey",
  ADD CONSTRAINT "approvals_tenant_id_created_by_id_fkey"
    FOREIGN KEY ("tenant_id", "created_by_id") REFERENCES "users" ON UPDATE CASCADE ON DELETE RESTRICT;
