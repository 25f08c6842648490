-- The temporary files and folders of exports, which contain personal data. If an export was killed, its entry remains, so
-- that the next export and `itsm doctor` can name the folder.
ALTER TABLE "installation" ADD COLUMN "partial_exports" text[] NOT NULL DEFAULT ARRAY[]::text[];
