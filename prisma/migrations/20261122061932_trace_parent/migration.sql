-- The span that an event was written in, for the attempts to deliver it (docs/decisions/traces.md).
ALTER TABLE "events" ADD COLUMN "trace_parent" TEXT;
