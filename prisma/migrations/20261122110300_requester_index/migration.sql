-- outside of a transaction
CREATE INDEX CONCURRENTLY "tickets_tenant_id_requester_id_id_idx" ON "tickets"("tenant_id", "requester_id", "id" DESC);
