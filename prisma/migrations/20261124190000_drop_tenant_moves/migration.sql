-- outside of a transaction
-- Removes the moves of tenants between databases and their write fence (docs/decisions/cells.md). Written by hand.
-- contract: unused since 1.0.0

ALTER POLICY "request" ON "activities"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "api_keys"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "assets"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "audit_entries"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "comments"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "csv_uploads"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "deliveries"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "events"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "idempotency_keys"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "invitations"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "projects"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "sessions"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "tasks"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "ticket_counts"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "ticket_sequences"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "ticket_watchers"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "tickets"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "users"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "webhook_replays"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
ALTER POLICY "request" ON "webhook_subscriptions"
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));

ALTER POLICY "system" ON "activities" WITH CHECK (true);
ALTER POLICY "system" ON "api_keys" WITH CHECK (true);
ALTER POLICY "system" ON "assets" WITH CHECK (true);
ALTER POLICY "system" ON "audit_entries" WITH CHECK (true);
ALTER POLICY "system" ON "comments" WITH CHECK (true);
ALTER POLICY "system" ON "csv_uploads" WITH CHECK (true);
ALTER POLICY "system" ON "deliveries" WITH CHECK (true);
ALTER POLICY "system" ON "events" WITH CHECK (true);
ALTER POLICY "system" ON "idempotency_keys" WITH CHECK (true);
ALTER POLICY "system" ON "invitations" WITH CHECK (true);
ALTER POLICY "system" ON "passkeys" WITH CHECK (true);
ALTER POLICY "system" ON "passwords" WITH CHECK (true);
ALTER POLICY "system" ON "projects" WITH CHECK (true);
ALTER POLICY "system" ON "tasks" WITH CHECK (true);
ALTER POLICY "system" ON "tenants" WITH CHECK (true);
ALTER POLICY "system" ON "ticket_sequences" WITH CHECK (true);
ALTER POLICY "system" ON "ticket_watchers" WITH CHECK (true);
ALTER POLICY "system" ON "tickets" WITH CHECK (true);
ALTER POLICY "system" ON "users" WITH CHECK (true);
ALTER POLICY "system" ON "webhook_replays" WITH CHECK (true);
ALTER POLICY "system" ON "webhook_subscriptions" WITH CHECK (true);

CREATE OR REPLACE FUNCTION "refuse_deleting_tickets"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Tickets are never deleted: their ordinals must be without a gap, and totals count on it.'
    USING HINT = 'Give the ticket the status CANCELLED instead.';
END
$$;

DROP FUNCTION IF EXISTS "writing_tenant"();
DROP FUNCTION IF EXISTS "may_write"(bigint);
DROP FUNCTION IF EXISTS "begin_writing"(bigint);
DROP FUNCTION IF EXISTS "move_lock"(bigint);
DROP FUNCTION IF EXISTS "pass_ids_of"(bigint);

DROP TABLE IF EXISTS "tenant_moves";
DROP TABLE IF EXISTS "tenant_move_outcomes";
-- The keys of the other cell's processes, which only a move compared.
DROP TABLE IF EXISTS "webhook_secret_keys";
