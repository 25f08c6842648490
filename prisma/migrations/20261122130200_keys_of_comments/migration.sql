-- outside of a transaction
-- A foreign key keeps writers of the table waiting that it refers to, until it is committed.
ALTER TABLE "comments"
  DROP CONSTRAINT IF EXISTS "comments_tenant_id_ticket_id_fkey",
  ADD CONSTRAINT "comments_tenant_id_ticket_id_fkey" FOREIGN KEY ("tenant_id", "ticket_id")
    REFERENCES "tickets"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "comments"
  DROP CONSTRAINT IF EXISTS "comments_tenant_id_author_id_fkey",
  ADD CONSTRAINT "comments_tenant_id_author_id_fkey" FOREIGN KEY ("tenant_id", "author_id")
    REFERENCES "users"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;
