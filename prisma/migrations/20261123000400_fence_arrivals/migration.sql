-- What arrives is written by whoever brings it, and by nobody else: the copy of a move that was interrupted is deleted by the next
-- one, and with it whatever was written there. The mover says of its own session that it writes the tenant
-- (docs/decisions/cells.md).
CREATE OR REPLACE FUNCTION "begin_writing"("of_tenant" bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  IF of_tenant IS NULL THEN
    RETURN NULL;
  END IF;
  IF NOT pg_try_advisory_xact_lock_shared("public"."move_lock"(of_tenant)) OR EXISTS (
    SELECT FROM "public"."tenant_moves" WHERE "tenant_id" = of_tenant)
  THEN
    RAISE EXCEPTION 'The workspace is being moved, and nothing can be written in it meanwhile.' USING ERRCODE = 'TM001';
  END IF;
  PERFORM set_config('itsm.writing', of_tenant::text, true);
  RETURN of_tenant;
END
$$;
