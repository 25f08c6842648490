-- CreateIndex
CREATE INDEX "deliveries_tenant_id_settled_at_idx" ON "deliveries"("tenant_id", "settled_at");

-- CreateIndex
CREATE INDEX "events_tenant_id_created_at_idx" ON "events"("tenant_id", "created_at");
