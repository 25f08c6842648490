-- outside of a transaction

-- Normalizes the tags and serial numbers of assets (docs/decisions/data-model.md#assets). Starts with the newest asset,
-- so that of two assets with the same normalized tag, the older one keeps its form. Commits after each 1,000 assets.
-- Texts in ASCII, whose length in bytes and characters is the same, are already normalized.
DO $$
DECLARE
  asset record;
  number int := 0;
BEGIN
  FOR asset IN
    SELECT tenant_id, id, asset_tag AS old_tag, visible_text(asset_tag) AS tag,
      serial_number AS old_serial, visible_text(serial_number) AS serial FROM assets
    WHERE octet_length(asset_tag) > length(asset_tag) AND asset_tag <> visible_text(asset_tag)
      OR octet_length(serial_number) > length(serial_number) AND serial_number <> visible_text(serial_number)
    ORDER BY id DESC
  LOOP
    -- A text without visible characters, or one that would be too long, keeps its form. The loop reads all assets
    -- first, so a text can have changed since then.
    UPDATE assets SET serial_number = asset.serial, updated_at = now()
    WHERE tenant_id = asset.tenant_id AND id = asset.id AND serial_number = asset.old_serial
      AND asset.serial <> asset.old_serial AND length(asset.serial) BETWEEN 1 AND greatest(length(serial_number), 127);
    BEGIN
      UPDATE assets SET asset_tag = asset.tag, updated_at = now()
      WHERE tenant_id = asset.tenant_id AND id = asset.id AND asset_tag = asset.old_tag
        AND asset.tag <> asset.old_tag AND length(asset.tag) BETWEEN 1 AND greatest(length(asset_tag), 50);
    EXCEPTION WHEN unique_violation THEN
      NULL;
    END;
    number := number + 1;
    IF number % 1000 = 0 THEN
      COMMIT;
    END IF;
  END LOOP;
END
$$;
