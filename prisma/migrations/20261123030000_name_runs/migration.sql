-- A later run of PostgreSQL is called by a later time: also where a database comes back to a server that it was on before,
-- or the clock was set back. And two who note one at once, by a clock that is behind, call it by two times: else the second
-- would wait for the end of the first (docs/decisions/changes.md). Written by hand.

CREATE OR REPLACE FUNCTION "begin_change_epoch"() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
DECLARE
  server CONSTANT bigint := (SELECT system_identifier FROM pg_control_system());
  newest "change_epochs";
  oldest_running bigint;
  run timestamptz;
BEGIN
  SELECT * INTO newest FROM "change_epochs" ORDER BY "begins_at" DESC LIMIT 1;
  IF pg_is_in_recovery() THEN
    RETURN newest."position_offset";
  END IF;
  IF newest."system_identifier" <> server THEN
    LOCK TABLE "change_epochs" IN SHARE ROW EXCLUSIVE MODE;
    SELECT * INTO newest FROM "change_epochs" ORDER BY "begins_at" DESC LIMIT 1;
  END IF;
  IF newest."system_identifier" <> server THEN
    oldest_running := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    newest."position_offset" := greatest(
      newest."position_offset",
      newest."begins_at" + 1 - oldest_running,
      (SELECT max(c."position") + 1 - oldest_running
        FROM "tenants" t CROSS JOIN unnest(ARRAY['tickets', 'assets', 'projects', 'tasks', 'users']) AS r ("resource")
        CROSS JOIN LATERAL (SELECT "position" FROM "changes" WHERE "tenant_id" = t."id" AND "resource" = r."resource"
          ORDER BY "position" DESC LIMIT 1) AS c)
    );
  END IF;
  run := "server_ran_since"();
  IF run IS NULL OR run < (SELECT max("started_at") FROM "change_epochs") THEN
    -- Later than all that were noted before, whatever the clock says; and not as another transaction calls it.
    run := greatest(clock_timestamp(), pg_postmaster_start_time() + interval '1 microsecond',
        (SELECT max("started_at") FROM "change_epochs") + interval '1 microsecond')
      + pg_current_xact_id()::text::bigint % 1000000 * interval '1 microsecond';
    INSERT INTO "server_runs" VALUES (server, run) ON CONFLICT DO NOTHING;
  END IF;
  INSERT INTO "change_epochs" ("begins_at", "started_at", "system_identifier", "position_offset")
  VALUES (newest."position_offset" + pg_current_xact_id()::text::bigint, run, server, newest."position_offset")
  ON CONFLICT DO NOTHING;
  RETURN newest."position_offset";
END
$$;

-- Where an earlier run is called by a later time already.
SELECT "begin_change_epoch"() WHERE "server_ran_since"() < (SELECT max("started_at") FROM "change_epochs");
