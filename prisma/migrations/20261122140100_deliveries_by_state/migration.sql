-- outside of a transaction
-- A subscription's deliveries of one state: the list by state, and what a replay looks through.
CREATE INDEX CONCURRENTLY "deliveries_tenant_id_subscription_id_state_id_idx"
  ON "deliveries"("tenant_id", "subscription_id", "state", "id" DESC);
