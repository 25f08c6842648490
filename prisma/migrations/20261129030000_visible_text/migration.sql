-- Returns a text as the schema `identifyingText` stores it: in the normalization form NFC, and without invisible
-- characters (Default_Ignorable_Code_Point) and white space around it (docs/decisions/data-model.md#assets).
CREATE FUNCTION visible_text(given text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN regexp_replace(normalize(regexp_replace(given,
  '[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F'
  '\uFEFF\uFFA0\uFFF0-\uFFF8\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]', '', 'g'), NFC),
  '^\s+|\s+$', '', 'g');
