-- A letter and its accent are one word's part, whether they are written as one character or as two (Unicode's form NFC): some
-- keyboards and file systems make two of them. Texts that were written before have their words made anew when they change.
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
      -- spaces and punctuation, currencies, letterlike signs, arrows, mathematics, boxes, pictures
      '\u1680\u2000-\u206F\u20A0-\u20FF\u2116\u2117\u2120-\u2122\u2190-\u245F\u2500-\u2775\u2794-\u2BFF\u2E00-\u2E7F'
      -- Chinese, Japanese, Korean; variants and full width
      '\u3000-\u3004\u3008-\u3020\u3030\u30FB\uFE00-\uFE1F\uFE30-\uFE6F\uFEFF\uFF01-\uFF0F\uFF1A-\uFF20\uFF3B-\uFF40\uFF5B-\uFF65\uFFE0-\uFFFD'
      -- emoji and the signs that vary them
      '\U0001F000-\U0001FAFF\U000E0000-\U000E0FFF'
      ']+', ' ', 'g');
  END IF;
  RETURN to_tsvector('pg_catalog.simple', translate(given, '-./@<&+_', '        '));
END
$$;
