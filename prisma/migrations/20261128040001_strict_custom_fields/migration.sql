-- Whether the server rejects custom fields without a definition.
ALTER TABLE "ticket_sequences" ADD COLUMN "strict_custom_fields" boolean NOT NULL DEFAULT false;
