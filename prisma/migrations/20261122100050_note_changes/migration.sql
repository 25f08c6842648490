-- outside of a transaction
-- From here on every write is noted. Each statement is committed on its own, so that writers of one table wait at a
-- time, and for a moment: a trigger waits for those who are writing, and who comes after it waits for the trigger.
-- Tickets before their watchers, who come and go with a write of the ticket.
CREATE OR REPLACE TRIGGER "tickets_note_change" AFTER INSERT OR UPDATE ON "tickets"
  FOR EACH ROW EXECUTE FUNCTION "note_changed_row"();
CREATE OR REPLACE TRIGGER "assets_note_change" AFTER INSERT OR UPDATE ON "assets"
  FOR EACH ROW EXECUTE FUNCTION "note_changed_row"();
CREATE OR REPLACE TRIGGER "projects_note_change" AFTER INSERT OR UPDATE ON "projects"
  FOR EACH ROW EXECUTE FUNCTION "note_changed_row"();
CREATE OR REPLACE TRIGGER "tasks_note_change" AFTER INSERT OR UPDATE ON "tasks"
  FOR EACH ROW EXECUTE FUNCTION "note_changed_row"();
CREATE OR REPLACE TRIGGER "users_note_change" AFTER INSERT OR UPDATE ON "users"
  FOR EACH ROW EXECUTE FUNCTION "note_changed_row"();
CREATE OR REPLACE TRIGGER "ticket_watchers_note_change" AFTER INSERT OR UPDATE OR DELETE ON "ticket_watchers"
  FOR EACH ROW EXECUTE FUNCTION "note_changed_watcher"();
