-- What has changed, in an order in which it can be followed (docs/decisions/changes.md). Rows are noted by triggers, so
-- whoever writes them: this release, the one before, the command line, SQL. The next migration makes the triggers, and the
-- one after it notes the rows from before.

-- CreateTable
CREATE TABLE "changes" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "resource" TEXT COLLATE "C" NOT NULL,
    "id" BIGINT NOT NULL,
    "position" BIGINT NOT NULL,
    "horizon" BIGINT NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "changes_pkey" PRIMARY KEY ("tenant_id","resource","id")
);

-- CreateTable
CREATE TABLE "change_epochs" (
    "begins_at" BIGINT NOT NULL,
    "started_at" TIMESTAMPTZ(6) NOT NULL,
    "system_identifier" BIGINT NOT NULL,
    "position_offset" BIGINT NOT NULL,

    CONSTRAINT "change_epochs_pkey" PRIMARY KEY ("begins_at")
);

-- CreateIndex
CREATE INDEX "changes_tenant_id_resource_position_id_idx" ON "changes"("tenant_id", "resource", "position", "id");

-- What follows is written by hand.

-- Rows move to the end of the second index all the time: what they leave behind is cleared away before it is much.
ALTER TABLE "changes" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);

ALTER TABLE "changes" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "changes" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "changes" TO "itsm_system" USING (true) WITH CHECK (true);
-- The triggers write them, with the rights of the owner.
GRANT SELECT ON "changes", "change_epochs" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "changes", "change_epochs" TO "itsm_system";

INSERT INTO "change_epochs" ("begins_at", "started_at", "system_identifier", "position_offset")
SELECT 0, pg_postmaster_start_time(), system_identifier, 0 FROM pg_control_system();

-- Tells what is added to transaction ids on a server that was started, restored or moved to, and has it written down with
-- the first position that the transaction gives. Nobody waits for another's end but on a server that is another one: there
-- all must count from the same number, which is past all positions of before, also for transactions that are under way.
CREATE FUNCTION "begin_change_epoch"() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
DECLARE
  server CONSTANT bigint := (SELECT system_identifier FROM pg_control_system());
  newest "change_epochs";
  oldest_running bigint;
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
  INSERT INTO "change_epochs" ("begins_at", "started_at", "system_identifier", "position_offset")
  VALUES (newest."position_offset" + pg_current_xact_id()::text::bigint, pg_postmaster_start_time(), server,
    newest."position_offset")
  ON CONFLICT DO NOTHING;
  RETURN newest."position_offset";
END
$$;

-- What is added to transaction ids on this server. It is the same for as long as the server runs, which no session
-- survives; what a transaction learns is forgotten with it when it is rolled back.
CREATE FUNCTION "change_offset"() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
DECLARE
  newest "change_epochs";
BEGIN
  SELECT * INTO newest FROM "change_epochs" ORDER BY "begins_at" DESC LIMIT 1;
  IF newest."started_at" <> pg_postmaster_start_time()
    OR newest."begins_at" > newest."position_offset" + pg_current_xact_id()::text::bigint
  THEN
    newest."position_offset" := "begin_change_epoch"();
  END IF;
  PERFORM set_config('itsm.change_offset', newest."position_offset"::text, false);
  RETURN newest."position_offset";
END
$$;

-- Moves a row to the newest position, once in a transaction, and returns that. Whoever calls it needs the right to write
-- the table. It is called in expressions, which cost less than statements.
CREATE FUNCTION "note_change"("of_tenant" bigint, "of_resource" text, "of_row" bigint, "is_new" boolean) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  change_offset CONSTANT bigint := COALESCE(
    nullif(current_setting('itsm.change_offset', true), '')::bigint, "change_offset"());
  newest CONSTANT bigint := change_offset + pg_current_xact_id()::text::bigint;
  oldest_running CONSTANT bigint := change_offset + pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
BEGIN
  -- Most rows that are written have been written before, and are moved for half of what an INSERT that finds them takes.
  IF NOT is_new THEN
    UPDATE "changes" SET "position" = newest, "horizon" = oldest_running, "changed_at" = clock_timestamp()
    WHERE "tenant_id" = of_tenant AND "resource" = of_resource AND "id" = of_row AND "position" <> newest;
    IF FOUND THEN
      RETURN newest;
    END IF;
  END IF;
  INSERT INTO "changes" AS c ("tenant_id", "resource", "id", "position", "horizon", "changed_at")
  VALUES (of_tenant, of_resource, of_row, newest, oldest_running, clock_timestamp())
  ON CONFLICT ("tenant_id", "resource", "id") DO UPDATE
  SET "position" = EXCLUDED."position", "horizon" = EXCLUDED."horizon", "changed_at" = EXCLUDED."changed_at"
  WHERE c."position" <> EXCLUDED."position";
  RETURN newest;
END
$$;

CREATE FUNCTION "note_changed_row"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
DECLARE
  noted CONSTANT bigint := "note_change"(NEW."tenant_id", TG_TABLE_NAME, NEW."id", TG_OP = 'INSERT');
BEGIN
  RETURN NULL;
END
$$;

-- Watchers are answered as a part of their ticket.
CREATE FUNCTION "note_changed_watcher"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
BEGIN
  IF TG_OP <> 'DELETE' THEN
    PERFORM "note_change"(NEW."tenant_id", 'tickets', NEW."ticket_id", false);
  END IF;
  IF TG_OP <> 'INSERT' THEN
    PERFORM "note_change"(OLD."tenant_id", 'tickets', OLD."ticket_id", false);
  END IF;
  RETURN NULL;
END
$$;

-- Triggers run whoever may execute their functions. Nobody else is to: by a trigger of their own on a table of their own
-- they would write what the owner may.
REVOKE ALL ON FUNCTION "begin_change_epoch"(), "change_offset"(), "note_change"(bigint, text, bigint, boolean),
  "note_changed_row"(), "note_changed_watcher"() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION "begin_change_epoch"() TO "itsm_request", "itsm_system";
