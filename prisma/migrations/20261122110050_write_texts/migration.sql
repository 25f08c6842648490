-- outside of a transaction
-- Releases that know nothing of texts write them, too. What leaves the words alone leaves their row alone. Each
-- statement is committed on its own, so that writers of one table wait at a time, and for a moment. What follows changes
-- comes before what writes new rows: else a row that is made between the two, and changed, would keep its first words.
CREATE OR REPLACE TRIGGER "tickets_text_changed" AFTER UPDATE ON "tickets" FOR EACH ROW
  WHEN ((OLD."tenant_id", OLD."id", OLD."ordinal", OLD."type", OLD."number", OLD."title", OLD."description")
    IS DISTINCT FROM (NEW."tenant_id", NEW."id", NEW."ordinal", NEW."type", NEW."number", NEW."title", NEW."description"))
  EXECUTE FUNCTION "write_ticket_text"();
CREATE OR REPLACE TRIGGER "tickets_text_new" AFTER INSERT ON "tickets"
  REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "write_new_ticket_texts"();
CREATE OR REPLACE TRIGGER "assets_text_changed" AFTER UPDATE ON "assets" FOR EACH ROW
  WHEN ((OLD."tenant_id", OLD."id", OLD."name", OLD."asset_tag", OLD."serial_number")
    IS DISTINCT FROM (NEW."tenant_id", NEW."id", NEW."name", NEW."asset_tag", NEW."serial_number"))
  EXECUTE FUNCTION "write_text"('name', 'asset_tag', 'serial_number');
CREATE OR REPLACE TRIGGER "assets_text_new" AFTER INSERT ON "assets"
  REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "write_new_texts"('name', 'asset_tag', 'serial_number');
CREATE OR REPLACE TRIGGER "users_text_changed" AFTER UPDATE ON "users" FOR EACH ROW
  WHEN ((OLD."tenant_id", OLD."id", OLD."name", OLD."email") IS DISTINCT FROM (NEW."tenant_id", NEW."id", NEW."name", NEW."email"))
  EXECUTE FUNCTION "write_text"('name', 'email');
CREATE OR REPLACE TRIGGER "users_text_new" AFTER INSERT ON "users"
  REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "write_new_texts"('name', 'email');
CREATE OR REPLACE TRIGGER "projects_text_changed" AFTER UPDATE ON "projects" FOR EACH ROW
  WHEN ((OLD."tenant_id", OLD."id", OLD."key", OLD."name", OLD."description")
    IS DISTINCT FROM (NEW."tenant_id", NEW."id", NEW."key", NEW."name", NEW."description"))
  EXECUTE FUNCTION "write_text"('key', 'name', 'description');
CREATE OR REPLACE TRIGGER "projects_text_new" AFTER INSERT ON "projects"
  REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "write_new_texts"('key', 'name', 'description');
CREATE OR REPLACE TRIGGER "tasks_text_changed" AFTER UPDATE ON "tasks" FOR EACH ROW
  WHEN ((OLD."tenant_id", OLD."id", OLD."title", OLD."description") IS DISTINCT FROM (NEW."tenant_id", NEW."id", NEW."title", NEW."description"))
  EXECUTE FUNCTION "write_text"('title', 'description');
CREATE OR REPLACE TRIGGER "tasks_text_new" AFTER INSERT ON "tasks"
  REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "write_new_texts"('title', 'description');
