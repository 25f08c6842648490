-- Whether work on a CHANGE can start only if it is approved and within its window.
ALTER TABLE "ticket_sequences" ADD COLUMN "change_policy" boolean NOT NULL DEFAULT false;
