-- When one of PostgreSQL's processes crashes, the others end with it and all is recovered, and the start of the server stays
-- what it was: but transaction ids that were given and not written down are given again. What says so is a table that such a
-- recovery empties, as do a promotion and a restore of the files. A dump takes its rows along: they are of the server that they
-- were noted on (docs/decisions/changes.md).

-- CreateTable
CREATE UNLOGGED TABLE "server_runs" (
    "system_identifier" BIGINT NOT NULL,
    "began_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "server_runs_pkey" PRIMARY KEY ("system_identifier","began_at")
);

-- What follows is written by hand.

-- No request has anything to do with it.
GRANT SELECT, INSERT, UPDATE, DELETE ON "server_runs" TO "itsm_system";

-- Until it recovers, this run is called as the release before calls it.
INSERT INTO "server_runs" SELECT system_identifier, pg_postmaster_start_time() FROM pg_control_system();

-- Since when the server runs without having recovered; null where nobody has noted it yet.
CREATE FUNCTION "server_ran_since"() RETURNS timestamptz
LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT greatest(pg_postmaster_start_time(), max("began_at")) FROM "server_runs"
    WHERE "system_identifier" = (SELECT system_identifier FROM pg_control_system()) HAVING count(*) > 0);
END
$$;

-- As before, by the run in place of the start of the server. Several who are the first may each note one, so that nobody waits
-- for another's end: the last of them counts.
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
  IF run IS NULL THEN
    -- Later than all that were noted before, whatever the clock says.
    run := greatest(clock_timestamp(), pg_postmaster_start_time() + interval '1 microsecond',
      (SELECT max("started_at") FROM "change_epochs") + interval '1 microsecond');
    INSERT INTO "server_runs" VALUES (server, run) ON CONFLICT DO NOTHING;
  END IF;
  INSERT INTO "change_epochs" ("begins_at", "started_at", "system_identifier", "position_offset")
  VALUES (newest."position_offset" + pg_current_xact_id()::text::bigint, run, server, newest."position_offset")
  ON CONFLICT DO NOTHING;
  RETURN newest."position_offset";
END
$$;

-- The run of the server, and what is added to transaction ids in it. The first who asks for it in a run has it noted.
CREATE FUNCTION "current_change_epoch"(OUT "started_at" timestamptz, OUT "position_offset" bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
BEGIN
  SELECT e."started_at", e."position_offset" INTO "started_at", "position_offset"
  FROM "change_epochs" e ORDER BY e."begins_at" DESC LIMIT 1;
  -- A standby has no table that isn't logged.
  IF NOT pg_is_in_recovery() AND "started_at" IS DISTINCT FROM "server_ran_since"() THEN
    "position_offset" := "begin_change_epoch"();
    "started_at" := "server_ran_since"();
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION "change_offset"() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
DECLARE
  newest "change_epochs";
BEGIN
  SELECT * INTO newest FROM "change_epochs" ORDER BY "begins_at" DESC LIMIT 1;
  IF newest."started_at" IS DISTINCT FROM "server_ran_since"()
    OR newest."begins_at" > newest."position_offset" + pg_current_xact_id()::text::bigint
  THEN
    newest."position_offset" := "begin_change_epoch"();
  END IF;
  PERFORM set_config('itsm.change_offset', newest."position_offset"::text, false);
  RETURN newest."position_offset";
END
$$;

REVOKE ALL ON FUNCTION "server_ran_since"(), "current_change_epoch"() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION "current_change_epoch"() TO "itsm_request", "itsm_system";
