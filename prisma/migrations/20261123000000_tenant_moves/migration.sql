-- Tenants that move to another database, or have come from one or gone to one (docs/decisions/cells.md). A tenant of which
-- there is no row is as ever.

-- CreateTable
CREATE TABLE "tenant_moves" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "state" TEXT COLLATE "C" NOT NULL,
    "token" UUID NOT NULL,
    "was_active" BOOLEAN NOT NULL,
    "target" BYTEA,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "swept_at" TIMESTAMPTZ(3),

    CONSTRAINT "tenant_moves_pkey" PRIMARY KEY ("tenant_id")
);

-- What follows is written by hand.

ALTER TABLE "tenant_moves"
  ADD CONSTRAINT "tenant_moves_state_check" CHECK ("state" IN ('ARRIVING', 'ABORTED', 'LEAVING', 'MOVED'));

ALTER TABLE "tenant_moves" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "tenant_moves" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "tenant_moves" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT ("tenant_id", "state") ON "tenant_moves" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "tenant_moves" TO "itsm_system";

-- The advisory lock that writers of a tenant share, and that whoever moves it has alone.
CREATE FUNCTION "move_lock"("of_tenant" bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN 4611686018427387904 + of_tenant;

-- Lets a transaction write rows of a tenant, to its end, unless that is being moved or was. The lock comes before the look:
-- who has it sees whatever was decided before, since each statement here has a snapshot of its own.
CREATE FUNCTION "begin_writing"("of_tenant" bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  IF of_tenant IS NULL THEN
    RETURN NULL;
  END IF;
  IF NOT pg_try_advisory_xact_lock_shared("public"."move_lock"(of_tenant)) OR EXISTS (
    SELECT FROM "public"."tenant_moves" WHERE "tenant_id" = of_tenant AND "state" <> 'ARRIVING')
  THEN
    RAISE EXCEPTION 'The workspace is being moved, and nothing can be written in it meanwhile.' USING ERRCODE = 'TM001';
  END IF;
  PERFORM set_config('itsm.writing', of_tenant::text, true);
  RETURN of_tenant;
END
$$;

-- The tenant for which a statement is run, where that may write; for policies, which ask once for each statement. Only the
-- first write of a transaction goes further than the settings. NULL without a tenant.
CREATE FUNCTION "writing_tenant"() RETURNS bigint LANGUAGE sql VOLATILE
  RETURN CASE WHEN current_setting('itsm.writing', true) = current_setting('itsm.tenant_id', true)
    THEN nullif(current_setting('itsm.writing', true), '')::bigint
    ELSE "begin_writing"(nullif(current_setting('itsm.tenant_id', true), '')::bigint) END;

-- Whether a tenant's row may be written by who writes for all tenants.
CREATE FUNCTION "may_write"("of_tenant" bigint) RETURNS boolean LANGUAGE sql VOLATILE
  RETURN CASE WHEN current_setting('itsm.writing', true) = of_tenant::text THEN true
    ELSE "begin_writing"(of_tenant) IS NOT NULL END;

-- Tickets are deleted where their tenant has gone, or never came.
CREATE OR REPLACE FUNCTION "refuse_deleting_tickets"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT FROM "public"."tenant_moves"
      WHERE "tenant_id" = OLD."tenant_id" AND "state" IN ('MOVED', 'ABORTED'))
    THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'Tickets are never deleted: their ordinals must be without a gap, and totals count on it.'
    USING HINT = 'Give the ticket the status CANCELLED instead.';
END
$$;

-- Has every sequence go on behind the ids that a tenant has. Others draw from it meanwhile: so it is set well past them,
-- and only where it isn't past them already.
CREATE FUNCTION "pass_ids_of"("of_tenant" bigint) RETURNS void
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
    EXECUTE format('SELECT setval(%L, $1 + 10000) FROM %s WHERE last_value < $1', owned."sequence", owned."sequence")
      USING newest;
  END LOOP;
END
$$;

-- Has the ids of new tenants come from the range of a cell, a thousand million each, and tells from which they come: a
-- database that is in a range of its own stays there.
CREATE FUNCTION "enter_cell"("cell" integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
BEGIN
  PERFORM setval('tenants_id_seq', cell * 1000000000::bigint) FROM "tenants_id_seq" WHERE last_value < 1000000000 AND cell > 0;
  RETURN (SELECT last_value / 1000000000 FROM "tenants_id_seq");
END
$$;

REVOKE ALL ON FUNCTION "pass_ids_of"(bigint), "enter_cell"(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION "pass_ids_of"(bigint), "enter_cell"(integer) TO "itsm_system";
