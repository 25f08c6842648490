-- Whether the server rejects custom fields without a definition.
ALTER TABLE "ticket_sequences" ADD COLUMN "strict_custom_fields" boolean NOT NULL DEFAULT false;

CREATE TRIGGER "ticket_sequences_notify_api_keys" AFTER INSERT OR UPDATE OF "strict_custom_fields" ON "ticket_sequences"
  FOR EACH ROW WHEN (NEW."strict_custom_fields") EXECUTE FUNCTION notify_api_keys();
