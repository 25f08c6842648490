-- outside of a transaction

-- Redaction replaces texts of tickets and comments (docs/decisions/privacy.md). It also changes comments and activities,
-- so their feeds must return the changed rows again.
ALTER TABLE tickets ADD COLUMN IF NOT EXISTS redacted_at timestamptz(3);
ALTER TABLE comments ADD COLUMN IF NOT EXISTS redacted_at timestamptz(3);

CREATE OR REPLACE TRIGGER comments_set_position BEFORE INSERT OR UPDATE OF body ON comments
  FOR EACH ROW EXECUTE FUNCTION set_feed_position();
CREATE OR REPLACE TRIGGER activities_set_position BEFORE INSERT OR UPDATE OF changes ON activities
  FOR EACH ROW EXECUTE FUNCTION set_feed_position();
