-- outside of a transaction
-- Says whose keys may have ended, so that a process forgets theirs alone. Written by hand. The payload was empty: one
-- administrator who changed keys over and over had all processes look all keys up again. Notifications of one
-- transaction that say the same are one.
CREATE OR REPLACE FUNCTION "notify_api_keys"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('api_keys', coalesce(to_jsonb(OLD) ->> 'tenant_id', to_jsonb(OLD) ->> 'id'));
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "api_keys_notify"
  AFTER UPDATE OF "revoked_at", "expires_at", "scopes" OR DELETE ON "api_keys"
  FOR EACH ROW EXECUTE FUNCTION "notify_api_keys"();

CREATE OR REPLACE TRIGGER "users_notify_api_keys"
  AFTER UPDATE OF "active" OR DELETE ON "users"
  FOR EACH ROW EXECUTE FUNCTION "notify_api_keys"();

CREATE OR REPLACE TRIGGER "tenants_notify_api_keys"
  AFTER UPDATE OF "active" OR DELETE ON "tenants"
  FOR EACH ROW EXECUTE FUNCTION "notify_api_keys"();
