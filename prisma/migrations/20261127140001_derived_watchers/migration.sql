-- Only the trigger function of tickets writes ticket_watchers. Requests can only read the table, and it needs no foreign
-- key to tickets.
-- contract: not released
DROP TRIGGER "ticket_watchers_note_change" ON "ticket_watchers";
DROP FUNCTION note_changed_watcher();
REVOKE INSERT, DELETE ON "ticket_watchers" FROM itsm_request;
ALTER TABLE "ticket_watchers" DROP CONSTRAINT "ticket_watchers_tenant_id_ticket_id_fkey";
