-- The tags of assets, in ascending order without duplicates (docs/decisions/tags.md).
ALTER TABLE "assets" ADD COLUMN "tags" text[] COLLATE "C" NOT NULL DEFAULT ARRAY[]::text[];

-- The tags of assets, for the filter by tag. note_tags_of_asset() writes the rows, so requests can only read them.
CREATE TABLE "tagged_assets" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "asset_id" bigint NOT NULL,
  "tag" text COLLATE "C" NOT NULL,
  PRIMARY KEY ("tenant_id", "asset_id", "tag"),
  FOREIGN KEY ("tenant_id", "asset_id") REFERENCES "assets" ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON "tagged_assets" ("tenant_id", "tag", "asset_id" DESC);

ALTER TABLE "tagged_assets" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "tagged_assets" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "tagged_assets" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT ON "tagged_assets" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "tagged_assets" TO "itsm_system";

CREATE FUNCTION note_tags_of_asset() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  DELETE FROM tagged_assets WHERE tenant_id = NEW.tenant_id AND asset_id = NEW.id AND tag <> ALL (NEW.tags);
  INSERT INTO tagged_assets (tenant_id, asset_id, tag)
  SELECT NEW.tenant_id, NEW.id, unnest(NEW.tags) ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION note_tags_of_asset() FROM PUBLIC;

CREATE TRIGGER "assets_tags_new" AFTER INSERT ON "assets"
FOR EACH ROW WHEN (NEW.tags <> '{}') EXECUTE FUNCTION note_tags_of_asset();
CREATE TRIGGER "assets_tags_changed" AFTER UPDATE ON "assets"
FOR EACH ROW WHEN (OLD.tags <> NEW.tags) EXECUTE FUNCTION note_tags_of_asset();
