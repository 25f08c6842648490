-- The functions that a migration with a new table calls (CONTRIBUTING.md). Only the owner of the database executes them.

-- Enables row-level security for a table, so that requests see only the rows of their tenant. Gives the role of requests
-- some rights, such as 'SELECT, INSERT', and the system role all rights. Covers the sequence of the ids, if there is one.
CREATE FUNCTION protect_table(name regclass, rights text) RETURNS void
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  own CONSTANT text := $own$"tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint)$own$;
  ids CONSTANT regclass := (SELECT objid FROM pg_depend JOIN pg_class c ON c.oid = objid AND c.relkind = 'S'
    WHERE classid = 'pg_class'::regclass AND refobjid = name);
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
  EXECUTE format('CREATE POLICY "request" ON %s TO "itsm_request" USING (%s) WITH CHECK (%2$s)', name, own);
  EXECUTE format('CREATE POLICY "system" ON %s TO "itsm_system" USING (true) WITH CHECK (true)', name);
  EXECUTE format('GRANT %s ON %s TO "itsm_request"', rights, name);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO "itsm_system"', name);
  IF ids IS NOT NULL THEN
    EXECUTE format('GRANT USAGE ON SEQUENCE %s TO "itsm_request", "itsm_system"', ids);
  END IF;
END
$$;

-- The tables with a change feed in the table changes. Comments and activities have their own positions.
CREATE TABLE "change_feeds" (
  "resource" text PRIMARY KEY
);
GRANT SELECT, INSERT, UPDATE, DELETE ON "change_feeds" TO "itsm_system";
INSERT INTO "change_feeds" VALUES
  ('articles'), ('assets'), ('projects'), ('tasks'), ('teams'), ('tickets'), ('users');

-- Adds a table to the change feeds. A trigger records each new and changed row.
CREATE FUNCTION add_change_feed(name regclass) RETURNS void
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  resource CONSTANT text := (SELECT relname FROM pg_class WHERE oid = name);
BEGIN
  INSERT INTO change_feeds VALUES (resource);
  EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION note_changed_row()',
    resource || '_note_change', name);
END
$$;

REVOKE ALL ON FUNCTION protect_table(regclass, text), add_change_feed(regclass) FROM PUBLIC;

-- The positions of a new epoch are higher than all positions of every change feed.
CREATE OR REPLACE FUNCTION begin_change_epoch() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  server CONSTANT bigint := (SELECT system_identifier FROM pg_control_system());
  newest change_epochs;
  oldest_running bigint;
  run timestamptz;
BEGIN
  SELECT * INTO newest FROM change_epochs ORDER BY begins_at DESC LIMIT 1;
  IF pg_is_in_recovery() THEN
    RETURN newest.position_offset;
  END IF;
  IF newest.system_identifier <> server THEN
    LOCK TABLE change_epochs IN SHARE ROW EXCLUSIVE MODE;
    SELECT * INTO newest FROM change_epochs ORDER BY begins_at DESC LIMIT 1;
  END IF;
  IF newest.system_identifier <> server THEN
    oldest_running := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    newest.position_offset := greatest(
      newest.position_offset,
      newest.begins_at + 1 - oldest_running,
      (SELECT max(c.position) + 1 - oldest_running
        FROM tenants t CROSS JOIN LATERAL (
          (SELECT last.position
            FROM change_feeds AS r
            CROSS JOIN LATERAL (SELECT position FROM changes WHERE tenant_id = t.id AND resource = r.resource
              ORDER BY position DESC LIMIT 1) AS last)
          UNION ALL
          (SELECT last.position FROM unnest(ARRAY['TICKET', 'ASSET']) AS r (resource)
            CROSS JOIN LATERAL (SELECT position FROM activities WHERE tenant_id = t.id AND resource = r.resource
              ORDER BY position DESC LIMIT 1) AS last)
          UNION ALL
          (SELECT position FROM comments WHERE tenant_id = t.id ORDER BY position DESC LIMIT 1)
        ) AS c)
    );
  END IF;
  run := server_ran_since();
  IF run IS NULL OR run < (SELECT max(started_at) FROM change_epochs) THEN
    -- The start of the run must be later than every earlier epoch, even if the clock was set back. It must differ
    -- between concurrent transactions.
    run := greatest(clock_timestamp(), pg_postmaster_start_time() + interval '1 microsecond',
        (SELECT max(started_at) FROM change_epochs) + interval '1 microsecond')
      + pg_current_xact_id()::text::bigint % 1000000 * interval '1 microsecond';
    INSERT INTO server_runs VALUES (server, run) ON CONFLICT DO NOTHING;
  END IF;
  INSERT INTO change_epochs (begins_at, started_at, system_identifier, position_offset)
  VALUES (newest.position_offset + pg_current_xact_id()::text::bigint, run, server, newest.position_offset)
  ON CONFLICT DO NOTHING;
  RETURN newest.position_offset;
END
$$;
