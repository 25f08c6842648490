-- The CIDR ranges from which a key works, and the address from which it was last used.
ALTER TABLE api_keys
  ADD COLUMN allowed_networks text[] NOT NULL DEFAULT ARRAY[]::text[],
  ADD COLUMN last_used_address text;
GRANT SELECT (allowed_networks, last_used_address), UPDATE (allowed_networks) ON api_keys TO itsm_request;
-- Processes cache the allowed networks of a key, so a change must also reach the cached keys.
CREATE OR REPLACE TRIGGER api_keys_notify
  AFTER DELETE OR UPDATE OF revoked_at, expires_at, scopes, allowed_networks ON api_keys
  FOR EACH ROW EXECUTE FUNCTION notify_api_keys();
