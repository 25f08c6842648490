-- outside of a transaction
-- The form that created a ticket. It has no foreign key, because a submit would otherwise lock the row of its form. Other
-- tickets aren't in the index, so that it costs nothing for them.
ALTER TABLE "tickets" ADD COLUMN IF NOT EXISTS "form_key" text COLLATE "C";
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tickets_tenant_id_form_key_id_idx"
  ON "tickets" ("tenant_id", "form_key", "id" DESC) WHERE "form_key" IS NOT NULL;
