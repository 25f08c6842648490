-- outside of a transaction
-- The version of a row, of which its ETag is made (docs/decisions/concurrency.md), and how many comments a ticket has.
-- No row is rewritten. Each statement is committed on its own, so that only one table is held, and for a moment.
ALTER TABLE "tickets" ADD COLUMN IF NOT EXISTS "version" INTEGER NOT NULL DEFAULT 1, ADD COLUMN IF NOT EXISTS "comment_count" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "assets" ADD COLUMN IF NOT EXISTS "version" INTEGER NOT NULL DEFAULT 1;
ALTER TABLE "projects" ADD COLUMN IF NOT EXISTS "version" INTEGER NOT NULL DEFAULT 1;
ALTER TABLE "tasks" ADD COLUMN IF NOT EXISTS "version" INTEGER NOT NULL DEFAULT 1;
ALTER TABLE "users" ADD COLUMN IF NOT EXISTS "version" INTEGER NOT NULL DEFAULT 1;
ALTER TABLE "webhook_subscriptions" ADD COLUMN IF NOT EXISTS "version" INTEGER NOT NULL DEFAULT 1;

-- Whoever writes a row, a process of the release before among them, gives it its next version. After the largest comes
-- 1 again.
CREATE OR REPLACE FUNCTION "next_version"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW."version" := OLD."version" % 2147483647 + 1; RETURN NEW; END
$$;

CREATE OR REPLACE TRIGGER "tickets_next_version" BEFORE UPDATE ON "tickets" FOR EACH ROW EXECUTE FUNCTION "next_version"();
CREATE OR REPLACE TRIGGER "assets_next_version" BEFORE UPDATE ON "assets" FOR EACH ROW EXECUTE FUNCTION "next_version"();
CREATE OR REPLACE TRIGGER "projects_next_version" BEFORE UPDATE ON "projects" FOR EACH ROW EXECUTE FUNCTION "next_version"();
CREATE OR REPLACE TRIGGER "tasks_next_version" BEFORE UPDATE ON "tasks" FOR EACH ROW EXECUTE FUNCTION "next_version"();
CREATE OR REPLACE TRIGGER "users_next_version" BEFORE UPDATE ON "users" FOR EACH ROW EXECUTE FUNCTION "next_version"();
CREATE OR REPLACE TRIGGER "webhook_subscriptions_next_version" BEFORE UPDATE ON "webhook_subscriptions" FOR EACH ROW EXECUTE FUNCTION "next_version"();
