-- outside of a transaction

-- Adds comments and activities to the change feed (docs/decisions/change-feed.md). Comments and activities never change,
-- so each row contains its own position. Existing rows get constant defaults, which PostgreSQL doesn't write to the rows:
-- they come first, in the order of their ids, and count as written when this migration runs.

CREATE OR REPLACE FUNCTION set_feed_position() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  change_offset CONSTANT bigint := COALESCE(
    nullif(current_setting('itsm.change_offset', true), '')::bigint, change_offset());
BEGIN
  NEW.position := change_offset + pg_current_xact_id()::text::bigint;
  NEW.horizon := change_offset + pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  -- The other times of the row come from the clock of a process or from the request.
  NEW.recorded_at := clock_timestamp();
  RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION set_feed_position() FROM PUBLIC;

ALTER TABLE comments
  ADD COLUMN IF NOT EXISTS position bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS horizon bigint NOT NULL DEFAULT 1,
  ADD COLUMN IF NOT EXISTS recorded_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
CREATE OR REPLACE TRIGGER comments_set_position BEFORE INSERT ON comments
  FOR EACH ROW EXECUTE FUNCTION set_feed_position();

ALTER TABLE activities
  ADD COLUMN IF NOT EXISTS position bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS horizon bigint NOT NULL DEFAULT 1,
  ADD COLUMN IF NOT EXISTS recorded_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
CREATE OR REPLACE TRIGGER activities_set_position BEFORE INSERT ON activities
  FOR EACH ROW EXECUTE FUNCTION set_feed_position();

CREATE INDEX CONCURRENTLY "comments_tenant_id_position_id_idx" ON comments (tenant_id, position, id);
CREATE INDEX CONCURRENTLY "activities_tenant_id_resource_position_id_idx"
  ON activities (tenant_id, resource, position, id);

-- The positions of a new epoch must also be higher than all positions of comments and activities.
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
          (SELECT last.position FROM unnest(ARRAY['tickets', 'assets', 'projects', 'tasks', 'users']) AS r (resource)
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
