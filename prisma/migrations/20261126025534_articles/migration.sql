-- An article of the knowledge base, in Markdown (docs/decisions/articles.md). The server limits the number of articles of
-- a tenant. imported_hash is the hash of the file that was last imported from the path.
CREATE TABLE "articles" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "id" bigserial,
  "title" text NOT NULL,
  "category" text COLLATE "C",
  "body" text NOT NULL CHECK (octet_length("body") <= 262144),
  "status" text COLLATE "C" NOT NULL DEFAULT 'DRAFT' CHECK ("status" IN ('DRAFT', 'PUBLISHED', 'ARCHIVED')),
  "path" text COLLATE "C",
  "imported_hash" bytea,
  "withdrawn_title" text,
  "withdrawn_category" text COLLATE "C",
  "version" integer NOT NULL DEFAULT 1,
  "created_at" timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz(3) NOT NULL,
  PRIMARY KEY ("tenant_id", "id"),
  FOREIGN KEY ("tenant_id") REFERENCES "tenants" ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON "articles" ("tenant_id", "status", "id" DESC);
CREATE INDEX ON "articles" ("tenant_id", "status", "category", "id" DESC);
CREATE UNIQUE INDEX "articles_tenant_id_path_key" ON "articles" ("tenant_id", "path");

ALTER TABLE "articles" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "articles" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "articles" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON "articles" TO "itsm_request";
GRANT USAGE ON SEQUENCE "articles_id_seq" TO "itsm_request", "itsm_system";
GRANT SELECT, INSERT, UPDATE, DELETE ON "articles" TO "itsm_system";

CREATE TRIGGER "articles_next_version" BEFORE UPDATE ON "articles" FOR EACH ROW EXECUTE FUNCTION next_version();

-- The change feed contains only articles that are or were published. A change of a draft doesn't move the article to the
-- end of the feed.
CREATE TRIGGER "articles_note_new" AFTER INSERT ON "articles" FOR EACH ROW
  WHEN (NEW.status = 'PUBLISHED') EXECUTE FUNCTION note_changed_row();
CREATE TRIGGER "articles_note_change" AFTER UPDATE ON "articles" FOR EACH ROW
  WHEN (OLD.status = 'PUBLISHED' OR NEW.status = 'PUBLISHED') EXECUTE FUNCTION note_changed_row();

-- Writes the words of an article twice: the title with the body, and the title alone, so that a search can return title
-- matches first. A document has at most 1 MB. If the different words of a body exceed this limit, the search finds the
-- article only by its title.
CREATE FUNCTION write_article_text() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  place CONSTANT text := text_place(NEW.tenant_id, 'articles', 0);
  whole tsvector;
BEGIN
  BEGIN
    whole := text_document(place, NEW.title || ' ' || NEW.body, NULL);
  EXCEPTION WHEN program_limit_exceeded THEN
    whole := text_document(place, NEW.title, NULL);
  END;
  INSERT INTO texts (tenant_id, resource, id, document)
  VALUES (NEW.tenant_id, 'articles', NEW.id, whole),
    (NEW.tenant_id, 'kb_titles', NEW.id, text_document(text_place(NEW.tenant_id, 'kb_titles', 0), NEW.title, NULL))
  ON CONFLICT (tenant_id, resource, id) DO UPDATE SET document = EXCLUDED.document;
  RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION write_article_text() FROM PUBLIC;
CREATE TRIGGER "articles_text_new" AFTER INSERT ON "articles" FOR EACH ROW EXECUTE FUNCTION write_article_text();
CREATE TRIGGER "articles_text_changed" AFTER UPDATE ON "articles" FOR EACH ROW
  WHEN ((OLD.tenant_id, OLD.id, OLD.title, OLD.body) IS DISTINCT FROM (NEW.tenant_id, NEW.id, NEW.title, NEW.body))
  EXECUTE FUNCTION write_article_text();

-- The positions of a new epoch must also be higher than all positions of articles.
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
            FROM unnest(ARRAY['tickets', 'assets', 'projects', 'tasks', 'users', 'articles']) AS r (resource)
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
