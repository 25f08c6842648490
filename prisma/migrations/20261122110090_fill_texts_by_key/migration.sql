-- Written by hand. The same as in `20261122110000_texts`, but for OFFSET 0, which has each row looked for by its key. What
-- PostgreSQL knows of the table is from before it was filled: as a join, it read all of it for every batch.
CREATE OR REPLACE PROCEDURE "fill_texts"() LANGUAGE plpgsql AS $$
DECLARE
  tenant bigint;
  source record;
  reached bigint;
  next_id bigint;
  is_locked boolean;
  waits integer := 0;
BEGIN
  PERFORM set_config('lock_timeout', '100ms', false);
  FOR tenant IN SELECT t.id FROM public.tenants t ORDER BY t.id LOOP
    FOR source IN
      SELECT s.name, CASE s.name
        WHEN 'tickets' THEN 'public.ticket_document(tenant_id, ordinal, type, number, title, description)'
        ELSE format('public.text_document(public.text_place(tenant_id, %L, 0), concat_ws('' '', %s), NULL)', s.name, s.columns)
      END AS document
      FROM (VALUES ('tickets', ''), ('assets', 'name, asset_tag, serial_number'), ('users', 'name, email'),
        ('projects', 'key, name, description'), ('tasks', 'title, description')) AS s (name, columns)
    LOOP
      reached := 0;
      LOOP
        is_locked := false;
        BEGIN
          EXECUTE format(
            'WITH batch AS MATERIALIZED (SELECT * FROM public.%1$I WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT 500),
              written AS (INSERT INTO public.texts (tenant_id, resource, id, document)
                SELECT tenant_id, %1$L, id, %2$s FROM batch AS b WHERE NOT EXISTS (
                  SELECT FROM public.texts AS w
                  WHERE w.tenant_id = b.tenant_id AND w.resource = %1$L AND w.id = b.id OFFSET 0) ON CONFLICT DO NOTHING)
            SELECT max(id) FROM batch', source.name, source.document)
          INTO next_id USING tenant, reached;
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
          CONTINUE;
        END IF;
        EXIT WHEN next_id IS NULL;
        reached := next_id;
      END LOOP;
    END LOOP;
  END LOOP;
END
$$;
