-- outside of a transaction
CREATE INDEX CONCURRENTLY "ticket_watchers_tenant_id_user_id_ticket_id_idx" ON "ticket_watchers"("tenant_id", "user_id", "ticket_id" DESC);
