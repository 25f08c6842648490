-- What becomes of each attempt to move a tenant, for good: so that whoever asks later, and however often the tenant has moved
-- on meanwhile, is told what is so, or that this database knows nothing of it (docs/decisions/cells.md).

-- CreateTable
CREATE TABLE "tenant_move_outcomes" (
    "token" UUID NOT NULL,
    "of_tenant" BIGINT NOT NULL,
    "outcome" TEXT COLLATE "C" NOT NULL,
    "target" BYTEA,
    "decided_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tenant_move_outcomes_pkey" PRIMARY KEY ("token")
);

-- CreateTable
CREATE TABLE "webhook_secret_keys" (
    "key_id" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "webhook_secret_keys_pkey" PRIMARY KEY ("key_id")
);

-- What follows is written by hand.

ALTER TABLE "tenant_move_outcomes"
  ADD CONSTRAINT "tenant_move_outcomes_outcome_check" CHECK ("outcome" IN ('MOVED', 'ABORTED', 'CALLED_OFF'));

-- No request has anything to do with them.
GRANT SELECT, INSERT, UPDATE, DELETE ON "tenant_move_outcomes" TO "itsm_system";
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_secret_keys" TO "itsm_system";

-- As before, and where a sequence stands at the tenant's newest id, too: one that has given none stands at 1.
CREATE OR REPLACE FUNCTION "pass_ids_of"("of_tenant" bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
DECLARE
  owned record;
  newest bigint;
BEGIN
  FOR owned IN
    SELECT c.oid::regclass AS "table", pg_get_serial_sequence(c.oid::regclass::text, 'id') AS "sequence"
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
    JOIN pg_attribute i ON i.attrelid = c.oid AND i.attname = 'id' AND NOT i.attisdropped
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
  LOOP
    CONTINUE WHEN owned."sequence" IS NULL;
    EXECUTE format('SELECT max("id") FROM %s WHERE "tenant_id" = $1', owned."table") INTO newest USING of_tenant;
    CONTINUE WHEN newest IS NULL;
    EXECUTE format('SELECT setval(%L, $1 + 10000) FROM %s WHERE last_value <= $1', owned."sequence", owned."sequence")
      USING newest;
  END LOOP;
END
$$;
