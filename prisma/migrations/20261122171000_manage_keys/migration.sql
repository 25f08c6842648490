-- The developer area manages keys with the rights of a request: it writes their hashes and never reads one.
GRANT SELECT ("user_id", "name", "last_four", "scopes", "expires_at", "revoked_at", "last_used_at", "created_at",
  "updated_at") ON "api_keys" TO "itsm_request";
GRANT INSERT ON "api_keys" TO "itsm_request";
GRANT UPDATE ("name", "scopes", "expires_at", "revoked_at", "updated_at") ON "api_keys" TO "itsm_request";
GRANT USAGE ON SEQUENCE "api_keys_id_seq" TO "itsm_request";
