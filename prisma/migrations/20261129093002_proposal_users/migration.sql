-- outside of a transaction
-- The foreign keys lock the proposals and the users.
ALTER TABLE "proposals"
  DROP CONSTRAINT IF EXISTS "proposals_tenant_id_proposed_by_id_fkey",
  ADD CONSTRAINT "proposals_tenant_id_proposed_by_id_fkey"
    FOREIGN KEY ("tenant_id", "proposed_by_id") REFERENCES "users" ON UPDATE CASCADE ON DELETE RESTRICT,
  DROP CONSTRAINT IF EXISTS "proposals_tenant_id_decided_by_id_fkey",
  ADD CONSTRAINT "proposals_tenant_id_decided_by_id_fkey"
    FOREIGN KEY ("tenant_id", "decided_by_id") REFERENCES "users" ON UPDATE CASCADE ON DELETE RESTRICT;
