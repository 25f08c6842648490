-- outside of a transaction
-- The foreign key locks the forms and the teams.
ALTER TABLE "request_forms"
  DROP CONSTRAINT IF EXISTS "request_forms_tenant_id_team_id_fkey",
  ADD CONSTRAINT "request_forms_tenant_id_team_id_fkey"
    FOREIGN KEY ("tenant_id", "team_id") REFERENCES "teams" ON UPDATE CASCADE ON DELETE RESTRICT;
