-- The attachments that a comment names, in ascending order. They have no foreign key, because a comment keeps the ids of
-- deleted attachments.
ALTER TABLE "comments" ADD COLUMN "attachment_ids" bigint[] NOT NULL DEFAULT ARRAY[]::bigint[];
