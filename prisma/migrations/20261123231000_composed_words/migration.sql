-- A letter and its accent are one word's part, whether they are written as one character or as two (Unicode's form NFC): some
-- keyboards and file systems make two of them. `~`, of which PostgreSQL's parser makes the name of a file, separates words like
-- all punctuation, and so does that of more scripts.
CREATE OR REPLACE FUNCTION "text_words"("given" text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF octet_length(given) > char_length(given) THEN
    IF given IS NOT NFC NORMALIZED THEN
      given := normalize(given, NFC);
    END IF;
    given := regexp_replace(given, '['
      -- Latin, Greek, Armenian, Hebrew, Arabic, Devanagari
      '\u0080-\u00A9\u00AB-\u00B1\u00B4\u00B6-\u00B8\u00BB\u00BF\u00D7\u00F7'
      '\u037E\u0387\u055A-\u055F\u0589-\u058F\u05BE\u060C\u061B\u061F\u066A-\u066D\u06D4\u0964\u0965'
      -- Thai, Tibetan, Myanmar, Ethiopic, Khmer
      '\u0E3F\u0F0B-\u0F14\u104A-\u104F\u1361-\u1368\u17D4-\u17DB'
      -- spaces and punctuation, currencies, letterlike signs, arrows, mathematics, boxes, pictures
      '\u1680\u2000-\u206F\u20A0-\u20FF\u2116\u2117\u2120-\u2122\u2190-\u245F\u2500-\u2775\u2794-\u2BFF\u2E00-\u2E7F'
      -- Chinese, Japanese, Korean; variants and full width
      '\u3000-\u3004\u3008-\u3020\u3030\u30FB\uFE00-\uFE1F\uFE30-\uFE6F\uFEFF\uFF01-\uFF0F\uFF1A-\uFF20\uFF3B-\uFF40\uFF5B-\uFF65\uFFE0-\uFFFD'
      -- emoji and the signs that vary them
      '\U0001F000-\U0001FAFF\U000E0000-\U000E0FFF'
      ']+', ' ', 'g');
  END IF;
  RETURN to_tsvector('pg_catalog.simple', translate(given, '-./@<&+_~', '         '));
END
$$;

-- The same in the one function that writes those of tickets.
CREATE OR REPLACE FUNCTION "ticket_document"(
  "tenant_id" bigint, "ordinal" integer, "type" text, "number" integer, "title" text, "description" text
) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  given CONSTANT text := title || ' ' || description;
  place CONSTANT text := tenant_id || 'ti' || (ordinal >> 15) || ':';
  words text[] := tsvector_to_array(CASE WHEN octet_length(given) > char_length(given) THEN public.text_words(given)
      ELSE to_tsvector('pg_catalog.simple', regexp_replace(given, '[-./@<&+_~]+', ' ', 'g')) END)
    || (CASE type WHEN 'INCIDENT' THEN 'inc-' WHEN 'PROBLEM' THEN 'prb-' WHEN 'CHANGE' THEN 'chg-' ELSE 'req-' END || number);
BEGIN
  IF given ~ '\S{65}' THEN
    words := ARRAY(SELECT left(word, 64) FROM unnest(words) AS word);
  END IF;
  RETURN array_to_tsvector(string_to_array(place || array_to_string(words, chr(1) || place), chr(1)));
END
$$;
