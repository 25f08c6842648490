-- What endpoints do that are new.
GRANT INSERT ON "assets" TO "itsm_request";
GRANT USAGE ON SEQUENCE "assets_id_seq" TO "itsm_request";

-- CreateTable
CREATE TABLE "texts" (
    "tenant_id" BIGINT NOT NULL,
    "resource" TEXT COLLATE "C" NOT NULL,
    "id" BIGINT NOT NULL,
    "document" tsvector NOT NULL,

    CONSTRAINT "texts_pkey" PRIMARY KEY ("tenant_id","resource","id")
);

-- What follows is written by hand: searching by words (docs/decisions/search.md).

-- Each word stands behind the name of its place, a hundred times over in a row: it is compressed to a third.
ALTER TABLE "texts" ALTER COLUMN "document" SET STORAGE MAIN;
ALTER TABLE "texts" SET (toast_tuple_target = 256);

ALTER TABLE "texts" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "texts" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "texts" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON "texts" TO "itsm_request"; -- by the triggers below
GRANT SELECT, INSERT, UPDATE, DELETE ON "texts" TO "itsm_system";

-- Words are runs of letters and digits. PostgreSQL's parser would make one word of an address of e-mail, a host, a path
-- or a version, and several of what a hyphen joins: it is not shown what makes it do so.
CREATE FUNCTION "text_words"("given" text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN to_tsvector('pg_catalog.simple', translate("given", '-./@<&+', '       '));

-- What stands before each word: whose it is, and where. A word is looked for in one place at a time, so that what others
-- have costs nothing, and what is common is found where it is newest. Places of tickets are 32,768 of a tenant's each.
CREATE FUNCTION "text_place"("tenant_id" bigint, "resource" text, "bucket" integer) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN "tenant_id" || left("resource", 2) || "bucket" || ':';

-- The words of a row, in their place. A number of a ticket is one word, in lower case as all are. Of words that are
-- longer than any, the beginning counts.
CREATE FUNCTION "text_document"("place" text, "given" text, "number" text) RETURNS tsvector
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN array_to_tsvector(ARRAY(
    SELECT place || left(word, 64)
    FROM unnest(tsvector_to_array(public.text_words(given)) || number) AS word WHERE word IS NOT NULL
  ));
END
$$;

CREATE FUNCTION "ticket_document"(
  "tenant_id" bigint, "ordinal" integer, "type" text, "number" integer, "title" text, "description" text
) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN "text_document"(
    "text_place"("tenant_id", 'tickets', "ordinal" >> 15),
    "title" || ' ' || "description",
    CASE "type" WHEN 'INCIDENT' THEN 'inc-' WHEN 'PROBLEM' THEN 'prb-' WHEN 'CHANGE' THEN 'chg-' ELSE 'req-' END || "number"
  );

CREATE FUNCTION "write_text"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  written tsvector;
BEGIN
  IF TG_TABLE_NAME = 'tickets' THEN
    written := public.ticket_document(NEW.tenant_id, NEW.ordinal, NEW.type, NEW.number, NEW.title, NEW.description);
  ELSE
    written := public.text_document(public.text_place(NEW.tenant_id, TG_TABLE_NAME, 0), CASE TG_TABLE_NAME
      WHEN 'assets' THEN concat_ws(' ', NEW.name, NEW.asset_tag, NEW.serial_number)
    END, NULL);
  END IF;
  INSERT INTO public.texts (tenant_id, resource, id, document) VALUES (NEW.tenant_id, TG_TABLE_NAME, NEW.id, written)
  ON CONFLICT (tenant_id, resource, id) DO UPDATE SET document = EXCLUDED.document;
  RETURN NULL;
END
$$;
