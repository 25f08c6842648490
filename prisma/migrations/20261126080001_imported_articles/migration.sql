-- The change feed also contains withdrawn articles. Only an import of a tenant inserts such articles.
CREATE OR REPLACE TRIGGER articles_note_new AFTER INSERT ON articles FOR EACH ROW
  WHEN (NEW.status = 'PUBLISHED' OR NEW.withdrawn_title IS NOT NULL) EXECUTE FUNCTION note_changed_row();
