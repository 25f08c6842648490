-- An administrator who deactivates a user ends their sessions, too; what a session is known by stays out of reach
-- (docs/decisions/developer-area.md).
GRANT SELECT ("tenant_id", "id", "user_id", "ended_at"), UPDATE ("ended_at") ON "sessions" TO "itsm_request";
