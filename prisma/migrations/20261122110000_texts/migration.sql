-- What endpoints do that are new.
GRANT INSERT ON "assets" TO "itsm_request";
GRANT USAGE ON SEQUENCE "assets_id_seq" TO "itsm_request";

-- CreateTable
CREATE TABLE "texts" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "resource" TEXT COLLATE "C" NOT NULL,
    "id" BIGINT NOT NULL,
    "document" tsvector NOT NULL,

    CONSTRAINT "texts_pkey" PRIMARY KEY ("tenant_id","resource","id")
);

-- What follows is written by hand: searching by words (docs/decisions/search.md).

ALTER TABLE "texts" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "texts" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "texts" TO "itsm_system" USING (true) WITH CHECK (true);
-- The triggers below write them, with the rights of the owner.
GRANT SELECT ON "texts" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "texts" TO "itsm_system";

-- The functions are PL/pgSQL, which keeps their plans: those in SQL would be planned anew for each row that is written.

-- Words are runs of letters and digits. PostgreSQL's parser would make one word of an address of e-mail, a host, a path
-- or a version, and several of what a hyphen joins: it is not shown what makes it do so.
CREATE FUNCTION "text_words"("given" text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN to_tsvector('pg_catalog.simple', translate(given, '-./@<&+_', '        '));
END
$$;

-- What stands before each word: whose it is, and where. A word is looked for in one place at a time, so that what others
-- have costs nothing, and what is common is found where it is newest. Places of tickets are 32,768 of a tenant's each.
CREATE FUNCTION "text_place"("tenant_id" bigint, "resource" text, "bucket" integer) RETURNS text
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN tenant_id || left(resource, 2) || bucket || ':';
END
$$;

-- The words of a row, in their place. A number of a ticket is one word, in lower case as all are. Of words that are
-- longer than any, the beginning counts: where there is one, each word is looked at.
CREATE FUNCTION "text_document"("place" text, "given" text, "number" text) RETURNS tsvector
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  words text[] := tsvector_to_array(public.text_words(given)) || number;
  placed text;
BEGIN
  IF given ~ '\S{65}' THEN
    words := ARRAY(SELECT left(word, 64) FROM unnest(words) AS word);
  END IF;
  placed := place || nullif(array_to_string(words, chr(1) || place), '');
  RETURN COALESCE(array_to_tsvector(string_to_array(placed, chr(1))), '');
END
$$;

CREATE FUNCTION "ticket_document"(
  "tenant_id" bigint, "ordinal" integer, "type" text, "number" integer, "title" text, "description" text
) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN public.text_document(
    public.text_place(tenant_id, 'tickets', ordinal >> 15),
    title || ' ' || description,
    CASE type WHEN 'INCIDENT' THEN 'inc-' WHEN 'PROBLEM' THEN 'prb-' WHEN 'CHANGE' THEN 'chg-' ELSE 'req-' END || number
  );
END
$$;

-- By statement, so that many rows are written at once.
CREATE FUNCTION "write_new_ticket_texts"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
BEGIN
  INSERT INTO public.texts (tenant_id, resource, id, document)
  SELECT a.tenant_id, 'tickets', a.id,
    public.ticket_document(a.tenant_id, a.ordinal, a.type, a.number, a.title, a.description)
  FROM added AS a
  ON CONFLICT (tenant_id, resource, id) DO UPDATE SET document = EXCLUDED.document;
  RETURN NULL;
END
$$;

-- The same for the other resources: a tenant has few of their rows, which are all in one place. Its arguments are the
-- columns whose words count.
CREATE FUNCTION "write_new_texts"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
BEGIN
  INSERT INTO public.texts (tenant_id, resource, id, document)
  SELECT a.tenant_id, TG_TABLE_NAME, a.id, public.text_document(
    public.text_place(a.tenant_id, TG_TABLE_NAME, 0),
    (SELECT string_agg(to_jsonb(a) ->> field, ' ') FROM unnest(TG_ARGV) AS field), NULL)
  FROM added AS a
  ON CONFLICT (tenant_id, resource, id) DO UPDATE SET document = EXCLUDED.document;
  RETURN NULL;
END
$$;

-- By row, since most updates change no text.
CREATE FUNCTION "write_ticket_text"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
DECLARE
  words CONSTANT tsvector :=
    public.ticket_document(NEW.tenant_id, NEW.ordinal, NEW.type, NEW.number, NEW.title, NEW.description);
BEGIN
  -- It is there but for a moment of an upgrade, and an INSERT that finds it takes longer.
  UPDATE public.texts SET document = words
  WHERE tenant_id = NEW.tenant_id AND resource = 'tickets' AND id = NEW.id;
  IF NOT FOUND THEN
    INSERT INTO public.texts (tenant_id, resource, id, document) VALUES (NEW.tenant_id, 'tickets', NEW.id, words)
    ON CONFLICT (tenant_id, resource, id) DO UPDATE SET document = EXCLUDED.document;
  END IF;
  RETURN NULL;
END
$$;

CREATE FUNCTION "write_text"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
BEGIN
  INSERT INTO public.texts (tenant_id, resource, id, document)
  SELECT NEW.tenant_id, TG_TABLE_NAME, NEW.id, public.text_document(
    public.text_place(NEW.tenant_id, TG_TABLE_NAME, 0), string_agg(to_jsonb(NEW) ->> field, ' '), NULL)
  FROM unnest(TG_ARGV) AS field
  ON CONFLICT (tenant_id, resource, id) DO UPDATE SET document = EXCLUDED.document;
  RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION "write_new_ticket_texts"(), "write_new_texts"(), "write_ticket_text"(), "write_text"() FROM PUBLIC;

-- The rows that are there already, in batches that each commit. What it finds written it leaves as it is, so it may be
-- called again at any time. A write that it would wait for is let by.
CREATE PROCEDURE "fill_texts"() LANGUAGE plpgsql AS $$
DECLARE
  tenant bigint;
  source record;
  reached bigint;
  next_id bigint;
  is_locked boolean;
  waits integer := 0;
BEGIN
  PERFORM set_config('lock_timeout', '100ms', false);
  FOR tenant IN SELECT t.id FROM public.tenants t ORDER BY t.id LOOP
    FOR source IN
      SELECT s.name, CASE s.name
        WHEN 'tickets' THEN 'public.ticket_document(tenant_id, ordinal, type, number, title, description)'
        ELSE format('public.text_document(public.text_place(tenant_id, %L, 0), concat_ws('' '', %s), NULL)', s.name, s.columns)
      END AS document
      FROM (VALUES ('tickets', ''), ('assets', 'name, asset_tag, serial_number'), ('users', 'name, email'),
        ('projects', 'key, name, description'), ('tasks', 'title, description')) AS s (name, columns)
    LOOP
      reached := 0;
      LOOP
        is_locked := false;
        BEGIN
          EXECUTE format(
            'WITH batch AS MATERIALIZED (SELECT * FROM public.%1$I WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT 500),
              written AS (INSERT INTO public.texts (tenant_id, resource, id, document)
                SELECT tenant_id, %1$L, id, %2$s FROM batch AS b WHERE NOT EXISTS (
                  SELECT FROM public.texts AS w
                  WHERE w.tenant_id = b.tenant_id AND w.resource = %1$L AND w.id = b.id) ON CONFLICT DO NOTHING)
            SELECT max(id) FROM batch', source.name, source.document)
          INTO next_id USING tenant, reached;
          waits := 0;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
          is_locked := true;
          waits := waits + 1;
          IF waits > 600 THEN
            RAISE;
          END IF;
        END;
        COMMIT;
        IF is_locked THEN
          PERFORM pg_sleep(0.5);
          CONTINUE;
        END IF;
        EXIT WHEN next_id IS NULL;
        reached := next_id;
      END LOOP;
    END LOOP;
  END LOOP;
END
$$;

-- What finds the words of `q`, as text that becomes a tsquery where U+0001 is replaced by a place; null where there is no
-- word. All must be there; the last may be the beginning of a word, unless it is a ticket's number, which in the words of
-- a text is two.
CREATE FUNCTION "text_query"("q" text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  number CONSTANT text := '\m(inc|prb|chg|req)-(\d+)\M';
  given CONSTANT text := lower(q);
  words CONSTANT tsvector := public.text_words(regexp_replace(given, number, ' ', 'g'));
  last CONSTANT integer := CASE WHEN given ~ (number || '\W*$') THEN 0
    ELSE (SELECT max(w.positions[cardinality(w.positions)]) FROM unnest(words) AS w) END;
BEGIN
  RETURN (
    SELECT string_agg(term, ' & ') FROM (
      SELECT format('(''%1$s%2$s-%3$s'' | ''%1$s%2$s'' & ''%1$s%3$s'')', chr(1), n[1], n[2]) AS term
      FROM regexp_matches(given, number, 'g') AS n
      UNION ALL
      SELECT '''' || chr(1) || replace(replace(left(w.lexeme, 64), '\', '\\'), '''', '''''') || ''''
        || CASE WHEN last = ANY (w.positions) THEN ':*' ELSE '' END
      FROM unnest(words) AS w
    ) AS terms
  );
END
$$;

-- The ids of a tenant's rows that have the words of `q`, in their order, so many at most. Operators of full text are not
-- leakproof, so that row-level security keeps requests from their index: this function may use it, and is bound to the
-- tenant that is set. It looks at place after place until it has enough.
CREATE FUNCTION "search_texts"("searched" text, "q" text, "newest_first" boolean, "most" integer)
  RETURNS TABLE ("id" bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 1000
  SET search_path = '' SET enable_seqscan = off AS $$
DECLARE
  tenant CONSTANT bigint := nullif(current_setting('itsm.tenant_id', true), '')::bigint;
  query CONSTANT text := public.text_query(q);
  newest integer := 0;
  bucket integer;
  wanted integer := most;
  found integer;
BEGIN
  IF tenant IS NULL THEN
    RAISE EXCEPTION 'search_texts was called without a tenant' USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF query IS NULL THEN RETURN; END IF;
  IF searched = 'tickets' THEN
    newest := COALESCE((SELECT s.total >> 15 FROM public.ticket_sequences s WHERE s.tenant_id = tenant), 0);
  END IF;
  FOR i IN 0..newest LOOP
    bucket := CASE WHEN newest_first THEN newest - i ELSE i END;
    RETURN QUERY
      SELECT m.id FROM (
        SELECT t.tenant_id, t.id FROM public.texts t
        WHERE t.document @@ replace(query, chr(1), public.text_place(tenant, searched, bucket))::tsquery
        -- The place names the tenant; its column is only looked at once more.
        OFFSET 0
      ) AS m
      WHERE m.tenant_id = tenant ORDER BY CASE WHEN newest_first THEN -m.id ELSE m.id END LIMIT wanted;
    GET DIAGNOSTICS found = ROW_COUNT;
    wanted := wanted - found;
    EXIT WHEN wanted <= 0;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION "search_texts"(text, text, boolean, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION "search_texts"(text, text, boolean, integer) TO "itsm_request";
