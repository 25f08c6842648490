-- A database that has given an id to a tenant keeps its range, the first cell's, too: whoever called with another cell's `CELL`
-- would have its processes refused from then on.
CREATE OR REPLACE FUNCTION "enter_cell"("cell" integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
BEGIN
  PERFORM setval('tenants_id_seq', cell * 1000000000::bigint) FROM "tenants_id_seq" WHERE NOT is_called AND cell > 0;
  RETURN (SELECT last_value / 1000000000 FROM "tenants_id_seq");
END
$$;
