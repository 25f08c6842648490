-- outside of a transaction
-- The foreign key locks the members and the users.
ALTER TABLE "team_members"
  DROP CONSTRAINT IF EXISTS "team_members_tenant_id_user_id_fkey",
  ADD CONSTRAINT "team_members_tenant_id_user_id_fkey"
    FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ON UPDATE CASCADE ON DELETE RESTRICT;
