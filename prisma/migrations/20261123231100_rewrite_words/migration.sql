-- outside of a transaction
-- The words of the texts that were written before and have others now, in batches that each commit. Their rows are locked, so that
-- what somebody else writes of them meanwhile isn't overwritten; a write that it would wait for is let by. Each text is looked
-- for by its key: what PostgreSQL knows of their table may be from before it was filled.
DO $$
DECLARE
  separators CONSTANT text := '[~\u0E3F\u0F0B-\u0F14\u104A-\u104F\u1361-\u1368\u17D4-\u17DB]';
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
      SELECT s.name, format('concat_ws('' '', %s)', s.columns) AS given, CASE s.name
        WHEN 'tickets' THEN 'public.ticket_document(tenant_id, ordinal, type, number, title, description)'
        ELSE format('public.text_document(public.text_place(tenant_id, %L, 0), concat_ws('' '', %s), NULL)', s.name, s.columns)
      END AS document
      FROM (VALUES ('tickets', 'title, description'), ('assets', 'name, asset_tag, serial_number'), ('users', 'name, email'),
        ('projects', 'key, name, description'), ('tasks', 'title, description')) AS s (name, columns)
    LOOP
      reached := 0;
      LOOP
        is_locked := false;
        BEGIN
          EXECUTE format(
            'WITH batch AS MATERIALIZED (SELECT id FROM public.%1$I WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT 500),
              beyond AS MATERIALIZED (SELECT s.* FROM public.%1$I AS s JOIN batch USING (id)
                WHERE s.tenant_id = $1 AND (%3$s IS NOT NFC NORMALIZED OR %3$s ~ %4$L) FOR NO KEY UPDATE OF s),
              documents AS MATERIALIZED (SELECT id, %2$s AS document FROM beyond),
              written AS (UPDATE public.texts AS w SET document = (SELECT document FROM documents WHERE id = w.id)
                WHERE w.tenant_id = $1 AND w.resource = %1$L AND w.id = ANY (ARRAY(SELECT id FROM documents))
                  AND w.document <> (SELECT document FROM documents WHERE id = w.id))
            SELECT max(id) FROM batch', source.name, source.document, source.given, separators)
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
