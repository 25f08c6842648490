-- Attempts that ended with their worker tell nothing of the receiver: they are none of those that the schedule counts.
-- Workers of the release before leave the number as it is.
ALTER TABLE "deliveries" ADD COLUMN "lost" INTEGER NOT NULL DEFAULT 0;
