-- How far a replay has got, and that it is done: its row stays for a while to tell of it. Workers of the release before
-- take one that is done once more, find no state left to look through, and delete it.
ALTER TABLE "webhook_replays"
  ADD COLUMN "matching" INTEGER,
  ADD COLUMN "sent" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "finished_at" TIMESTAMPTZ(3);
