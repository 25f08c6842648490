-- Row-level security, the third wall between tenants (docs/decisions/tenancy.md). Written by hand: Prisma's schema has
-- no word for it. The roles belong to the whole cluster and are made before the migrations (database/roles.ts).
-- A later migration that makes a table with tenant_id writes the same for it, grants included.
DO $$
DECLARE
  tenant CONSTANT text := '(SELECT nullif(current_setting(''itsm.tenant_id'', true), '''')::bigint)';
  owner_column record;
BEGIN
  FOR owner_column IN
    SELECT 'tenants' AS "table", 'id' AS name
    UNION ALL SELECT unnest(ARRAY['users', 'api_keys', 'tickets', 'ticket_watchers', 'ticket_sequences', 'ticket_counts',
      'assets', 'projects', 'tasks', 'webhook_subscriptions', 'events', 'deliveries', 'delivery_attempts']), 'tenant_id'
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', owner_column."table");
    EXECUTE format('CREATE POLICY "request" ON %I TO "itsm_request" USING (%I = %s) WITH CHECK (%2$I = %3$s)',
      owner_column."table", owner_column.name, tenant);
    EXECUTE format('CREATE POLICY "system" ON %I TO "itsm_system" USING (true) WITH CHECK (true)', owner_column."table");
  END LOOP;
END
$$;

GRANT USAGE ON SCHEMA "public" TO "itsm_request", "itsm_system";

-- What requests do, table by table. They have nothing to look for in tenants, api_keys and delivery_attempts.
GRANT SELECT ON "users", "projects" TO "itsm_request";
GRANT SELECT, UPDATE ON "assets" TO "itsm_request";
GRANT SELECT, INSERT ON "events" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE ON "tickets", "ticket_sequences", "ticket_counts", "tasks", "webhook_subscriptions",
  "deliveries" TO "itsm_request";
GRANT SELECT, INSERT, DELETE ON "ticket_watchers" TO "itsm_request";
GRANT USAGE ON SEQUENCE "tickets_id_seq", "tasks_id_seq", "webhook_subscriptions_id_seq", "events_id_seq",
  "deliveries_id_seq" TO "itsm_request";

-- All rows, for key look-up, workers, retention and the command line.
GRANT SELECT, INSERT, UPDATE, DELETE ON "tenants", "users", "api_keys", "tickets", "ticket_watchers",
  "ticket_sequences", "ticket_counts", "assets", "projects", "tasks", "webhook_subscriptions", "events", "deliveries",
  "delivery_attempts" TO "itsm_system";
GRANT USAGE ON ALL SEQUENCES IN SCHEMA "public" TO "itsm_system";

-- Which migrations there were, for processes whose own role owns nothing. Where migrations are only compared with the
-- schema, the table is not there.
DO $$
BEGIN
  IF to_regclass('_prisma_migrations') IS NOT NULL THEN
    GRANT SELECT ON "_prisma_migrations" TO "itsm_system";
  END IF;
END
$$;
