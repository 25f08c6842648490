-- outside of a transaction

-- Service accounts are users for programs. They always have the role AGENT. The checks are validated separately, so that
-- no statement locks the table while it reads all rows.
ALTER TABLE users ADD COLUMN IF NOT EXISTS kind text COLLATE "C" NOT NULL DEFAULT 'PERSON';
ALTER TABLE users
  DROP CONSTRAINT IF EXISTS users_kind_check,
  DROP CONSTRAINT IF EXISTS users_service_role_check,
  ADD CONSTRAINT users_kind_check CHECK (kind IN ('PERSON', 'SERVICE')) NOT VALID,
  ADD CONSTRAINT users_service_role_check CHECK (kind <> 'SERVICE' OR role = 'AGENT') NOT VALID;
ALTER TABLE users VALIDATE CONSTRAINT users_kind_check;
ALTER TABLE users VALIDATE CONSTRAINT users_service_role_check;
