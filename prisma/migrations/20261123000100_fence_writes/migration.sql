-- outside of a transaction
-- From here on a write passes the fence of its tenant (the migration before; docs/decisions/cells.md). What requests write,
-- by the tenant that they are for.
ALTER POLICY "request" ON "activities" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "api_keys" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "assets" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "audit_entries" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "comments" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "csv_uploads" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "deliveries" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "events" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "idempotency_keys" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "invitations" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "projects" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "sessions" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "tasks" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "ticket_counts" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "ticket_sequences" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "ticket_watchers" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "tickets" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "users" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "webhook_replays" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
ALTER POLICY "request" ON "webhook_subscriptions" WITH CHECK ("tenant_id" = (SELECT "writing_tenant"()));
-- What the command line and signing in write, row by row. Workers write none of these.
ALTER POLICY "system" ON "tenants" WITH CHECK ("may_write"("id"));
ALTER POLICY "system" ON "activities" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "assets" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "audit_entries" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "comments" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "csv_uploads" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "events" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "idempotency_keys" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "invitations" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "passkeys" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "passwords" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "projects" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "tasks" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "ticket_sequences" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "ticket_watchers" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "tickets" WITH CHECK ("may_write"("tenant_id"));
ALTER POLICY "system" ON "users" WITH CHECK ("may_write"("tenant_id"));
-- Workers write these for many tenants at once, and are not held back by one that moves: who names a tenant is.
ALTER POLICY "system" ON "api_keys" WITH CHECK ("tenant_id" = COALESCE((SELECT "writing_tenant"()), "tenant_id"));
ALTER POLICY "system" ON "deliveries" WITH CHECK ("tenant_id" = COALESCE((SELECT "writing_tenant"()), "tenant_id"));
ALTER POLICY "system" ON "webhook_replays" WITH CHECK ("tenant_id" = COALESCE((SELECT "writing_tenant"()), "tenant_id"));
ALTER POLICY "system" ON "webhook_subscriptions" WITH CHECK ("tenant_id" = COALESCE((SELECT "writing_tenant"()), "tenant_id"));
