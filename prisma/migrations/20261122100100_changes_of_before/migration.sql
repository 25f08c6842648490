-- outside of a transaction
-- The rows of before changes were noted: at negative positions, in the order in which they were changed last. A thousand
-- at a time, so that a write waits for milliseconds; one that is under way is waited for, and never by others. It is one
-- statement, since `prisma migrate deploy` would make one transaction of several.
DO $$
DECLARE
  resource text;
  last_tenant bigint;
  last_id bigint;
  next_tenant bigint;
  next_id bigint;
  is_locked boolean;
  waits int := 0;
BEGIN
  PERFORM set_config('lock_timeout', '100ms', false);
  FOREACH resource IN ARRAY ARRAY['users', 'projects', 'assets', 'tasks', 'tickets'] LOOP
    last_tenant := 0;
    last_id := 0;
    LOOP
      is_locked := false;
      BEGIN
        EXECUTE format($sql$
          WITH batch AS (
            SELECT "tenant_id", "id", "updated_at", (extract(epoch FROM "updated_at") * 1000)::bigint - (1::bigint << 52) AS position
            FROM %I WHERE ("tenant_id", "id") > ($1, $2) ORDER BY "tenant_id", "id" LIMIT 1000
          ), noted AS (
            INSERT INTO "changes" ("tenant_id", "resource", "id", "position", "horizon", "changed_at")
            SELECT "tenant_id", %L, "id", position, position, "updated_at" FROM batch ON CONFLICT DO NOTHING
          )
          SELECT "tenant_id", "id" FROM batch ORDER BY "tenant_id" DESC, "id" DESC LIMIT 1 $sql$, resource, resource)
        INTO next_tenant, next_id USING last_tenant, last_id;
        EXIT WHEN next_tenant IS NULL;
        last_tenant := next_tenant;
        last_id := next_id;
        waits := 0;
      EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
        is_locked := true;
        waits := waits + 1;
        IF waits > 600 THEN
          RAISE;
        END IF;
      END;
      COMMIT;
      IF is_locked THEN
        PERFORM pg_sleep(0.5);
      END IF;
    END LOOP;
  END LOOP;
END
$$;
