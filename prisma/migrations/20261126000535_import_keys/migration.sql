-- Marks the keys that can import tickets and comments with their original times and authors.
ALTER TABLE api_keys ADD COLUMN is_import boolean NOT NULL DEFAULT false;
GRANT SELECT (is_import) ON api_keys TO itsm_request;
