-- outside of a transaction
CREATE INDEX CONCURRENTLY "tickets_tenant_id_created_at_id_idx" ON "tickets"("tenant_id", "created_at" DESC, "id" DESC);
