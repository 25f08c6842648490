-- A team. name_key is the normalized name. A trigger increments version, which is part of the ETag.
CREATE TABLE "teams" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "id" bigserial,
  "name" text NOT NULL,
  "name_key" text NOT NULL,
  "description" text,
  "active" boolean NOT NULL DEFAULT true,
  "version" integer NOT NULL DEFAULT 1,
  "created_at" timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz(3) NOT NULL,
  PRIMARY KEY ("tenant_id", "id"),
  CHECK ("id" < 9007199254740992),
  FOREIGN KEY ("tenant_id") REFERENCES "tenants" ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE UNIQUE INDEX "teams_tenant_id_name_key_key" ON "teams" ("tenant_id", "name_key");
CREATE INDEX ON "teams" ("tenant_id", "active", "id" DESC);

-- The members of teams. The next migration adds the foreign key to users.
CREATE TABLE "team_members" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "team_id" bigint NOT NULL,
  "user_id" bigint NOT NULL,
  PRIMARY KEY ("tenant_id", "team_id", "user_id"),
  FOREIGN KEY ("tenant_id", "team_id") REFERENCES "teams" ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON "team_members" ("tenant_id", "user_id");

ALTER TABLE "teams" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "teams" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "teams" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON "teams" TO "itsm_request";
GRANT USAGE ON SEQUENCE "teams_id_seq" TO "itsm_request", "itsm_system";
GRANT SELECT, INSERT, UPDATE, DELETE ON "teams" TO "itsm_system";

ALTER TABLE "team_members" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "team_members" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "team_members" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, DELETE ON "team_members" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "team_members" TO "itsm_system";

CREATE TRIGGER "teams_next_version" BEFORE UPDATE ON "teams" FOR EACH ROW EXECUTE FUNCTION next_version();
CREATE TRIGGER "teams_note_change" AFTER INSERT OR UPDATE ON "teams" FOR EACH ROW EXECUTE FUNCTION note_changed_row();

-- The positions of a new epoch must also be higher than all positions of teams.
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
            FROM unnest(ARRAY['tickets', 'assets', 'projects', 'tasks', 'users', 'teams', 'articles']) AS r (resource)
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
