-- The values of the filterable custom fields of assets, for the filter customFields. note_fields_of_asset() writes the
-- rows, so requests can only read them. A job writes the rows of older assets.
CREATE TABLE "asset_field_values" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "asset_id" bigint NOT NULL,
  "key" text COLLATE "C" NOT NULL,
  "value" text COLLATE "C" NOT NULL,
  PRIMARY KEY ("tenant_id", "asset_id", "key", "value"),
  FOREIGN KEY ("tenant_id", "asset_id") REFERENCES "assets" ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX ON "asset_field_values" ("tenant_id", "key", "value", "asset_id" DESC);

ALTER TABLE "asset_field_values" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "asset_field_values" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "asset_field_values" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT ON "asset_field_values" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "asset_field_values" TO "itsm_system";

CREATE FUNCTION note_fields_of_asset() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  DELETE FROM asset_field_values
  WHERE tenant_id = NEW.tenant_id AND asset_id = NEW.id AND (key, value) NOT IN (
    SELECT key, value FROM filterable_values(NEW.tenant_id, 'ASSET', NEW.custom_fields));
  INSERT INTO asset_field_values (tenant_id, asset_id, key, value)
  SELECT NEW.tenant_id, NEW.id, key, value
  FROM filterable_values(NEW.tenant_id, 'ASSET', NEW.custom_fields) ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION note_fields_of_asset() FROM PUBLIC;

CREATE TRIGGER "assets_fields_new" AFTER INSERT ON "assets"
FOR EACH ROW WHEN (NEW.custom_fields <> '{}') EXECUTE FUNCTION note_fields_of_asset();
CREATE TRIGGER "assets_fields_changed" AFTER UPDATE ON "assets"
FOR EACH ROW WHEN (OLD.custom_fields <> NEW.custom_fields) EXECUTE FUNCTION note_fields_of_asset();
