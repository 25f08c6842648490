-- outside of a transaction

-- Ids are numbers in JSON, which are exact below 2^53. Each table with its own ids has a CHECK, so that no import can write
-- an id after which the sequence of all tenants is exhausted. Other columns have ids of these tables. The checks are
-- validated separately, so that no statement locks a table while it reads all rows. A check with one comparison takes
-- about 4 µs per statement.
ALTER TABLE "activities"
  DROP CONSTRAINT IF EXISTS "activities_id_check",
  ADD CONSTRAINT "activities_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "api_keys"
  DROP CONSTRAINT IF EXISTS "api_keys_id_check",
  ADD CONSTRAINT "api_keys_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "articles"
  DROP CONSTRAINT IF EXISTS "articles_id_check",
  ADD CONSTRAINT "articles_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "assets"
  DROP CONSTRAINT IF EXISTS "assets_id_check",
  ADD CONSTRAINT "assets_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "attachments"
  DROP CONSTRAINT IF EXISTS "attachments_id_check",
  ADD CONSTRAINT "attachments_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "audit_entries"
  DROP CONSTRAINT IF EXISTS "audit_entries_id_check",
  ADD CONSTRAINT "audit_entries_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "comments"
  DROP CONSTRAINT IF EXISTS "comments_id_check",
  ADD CONSTRAINT "comments_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "deleted_attachments"
  DROP CONSTRAINT IF EXISTS "deleted_attachments_id_check",
  ADD CONSTRAINT "deleted_attachments_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "deleted_tenants"
  DROP CONSTRAINT IF EXISTS "deleted_tenants_id_check",
  ADD CONSTRAINT "deleted_tenants_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "deliveries"
  DROP CONSTRAINT IF EXISTS "deliveries_id_check",
  ADD CONSTRAINT "deliveries_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "delivery_attempts"
  DROP CONSTRAINT IF EXISTS "delivery_attempts_id_check",
  ADD CONSTRAINT "delivery_attempts_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "events"
  DROP CONSTRAINT IF EXISTS "events_id_check",
  ADD CONSTRAINT "events_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "invitations"
  DROP CONSTRAINT IF EXISTS "invitations_id_check",
  ADD CONSTRAINT "invitations_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "passkeys"
  DROP CONSTRAINT IF EXISTS "passkeys_id_check",
  ADD CONSTRAINT "passkeys_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "projects"
  DROP CONSTRAINT IF EXISTS "projects_id_check",
  ADD CONSTRAINT "projects_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "request_log"
  DROP CONSTRAINT IF EXISTS "request_log_id_check",
  ADD CONSTRAINT "request_log_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "sessions"
  DROP CONSTRAINT IF EXISTS "sessions_id_check",
  ADD CONSTRAINT "sessions_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "tasks"
  DROP CONSTRAINT IF EXISTS "tasks_id_check",
  ADD CONSTRAINT "tasks_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "tenants"
  DROP CONSTRAINT IF EXISTS "tenants_id_check",
  ADD CONSTRAINT "tenants_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "ticket_links"
  DROP CONSTRAINT IF EXISTS "ticket_links_id_check",
  ADD CONSTRAINT "ticket_links_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "tickets"
  DROP CONSTRAINT IF EXISTS "tickets_id_check",
  ADD CONSTRAINT "tickets_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "users"
  DROP CONSTRAINT IF EXISTS "users_id_check",
  ADD CONSTRAINT "users_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "webhook_replays"
  DROP CONSTRAINT IF EXISTS "webhook_replays_id_check",
  ADD CONSTRAINT "webhook_replays_id_check" CHECK ("id" < 9007199254740992) NOT VALID;
ALTER TABLE "webhook_subscriptions"
  DROP CONSTRAINT IF EXISTS "webhook_subscriptions_id_check",
  ADD CONSTRAINT "webhook_subscriptions_id_check" CHECK ("id" < 9007199254740992) NOT VALID;

-- A manipulated export must not replace, read or delete the files of another tenant.
ALTER TABLE "attachments"
  DROP CONSTRAINT IF EXISTS "attachments_storage_key_check",
  ADD CONSTRAINT "attachments_storage_key_check" CHECK ("storage_key" ~ ('^' || "tenant_id" || '/[0-9a-f-]{36}$')) NOT VALID;

ALTER TABLE "activities" VALIDATE CONSTRAINT "activities_id_check";
ALTER TABLE "api_keys" VALIDATE CONSTRAINT "api_keys_id_check";
ALTER TABLE "articles" VALIDATE CONSTRAINT "articles_id_check";
ALTER TABLE "assets" VALIDATE CONSTRAINT "assets_id_check";
ALTER TABLE "attachments" VALIDATE CONSTRAINT "attachments_id_check";
ALTER TABLE "audit_entries" VALIDATE CONSTRAINT "audit_entries_id_check";
ALTER TABLE "comments" VALIDATE CONSTRAINT "comments_id_check";
ALTER TABLE "deleted_attachments" VALIDATE CONSTRAINT "deleted_attachments_id_check";
ALTER TABLE "deleted_tenants" VALIDATE CONSTRAINT "deleted_tenants_id_check";
ALTER TABLE "deliveries" VALIDATE CONSTRAINT "deliveries_id_check";
ALTER TABLE "delivery_attempts" VALIDATE CONSTRAINT "delivery_attempts_id_check";
ALTER TABLE "events" VALIDATE CONSTRAINT "events_id_check";
ALTER TABLE "invitations" VALIDATE CONSTRAINT "invitations_id_check";
ALTER TABLE "passkeys" VALIDATE CONSTRAINT "passkeys_id_check";
ALTER TABLE "projects" VALIDATE CONSTRAINT "projects_id_check";
ALTER TABLE "request_log" VALIDATE CONSTRAINT "request_log_id_check";
ALTER TABLE "sessions" VALIDATE CONSTRAINT "sessions_id_check";
ALTER TABLE "tasks" VALIDATE CONSTRAINT "tasks_id_check";
ALTER TABLE "tenants" VALIDATE CONSTRAINT "tenants_id_check";
ALTER TABLE "ticket_links" VALIDATE CONSTRAINT "ticket_links_id_check";
ALTER TABLE "tickets" VALIDATE CONSTRAINT "tickets_id_check";
ALTER TABLE "users" VALIDATE CONSTRAINT "users_id_check";
ALTER TABLE "webhook_replays" VALIDATE CONSTRAINT "webhook_replays_id_check";
ALTER TABLE "webhook_subscriptions" VALIDATE CONSTRAINT "webhook_subscriptions_id_check";
ALTER TABLE "attachments" VALIDATE CONSTRAINT "attachments_storage_key_check";
