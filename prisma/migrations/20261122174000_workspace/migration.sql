-- What the developer area makes and changes, for which v1 has no endpoint (docs/decisions/tenancy.md).
GRANT INSERT, UPDATE ON "users", "projects" TO "itsm_request";
GRANT USAGE ON SEQUENCE "users_id_seq", "projects_id_seq" TO "itsm_request";
