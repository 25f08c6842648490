-- outside of a transaction
-- The counts of tickets follow an update as they follow an insert: once for all the rows of the statement, in the order of
-- their key. Row by row, two updates of many tickets would each wait for a count that the other has changed. Each statement
-- leaves counts that are right. Written by hand.

-- Most updates leave the kinds alone: those that don't say so, to the end of their transaction.
CREATE OR REPLACE FUNCTION "note_changed_kind"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  noted CONSTANT text := set_config('itsm.kinds_changed', 'on', true);
BEGIN
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "tickets_note_kind" AFTER UPDATE ON "tickets" FOR EACH ROW
  WHEN ((OLD."tenant_id", OLD."status", OLD."priority", OLD."type", OLD."category", OLD."assignee_id")
    IS DISTINCT FROM (NEW."tenant_id", NEW."status", NEW."priority", NEW."type", NEW."category", NEW."assignee_id"))
  EXECUTE FUNCTION "note_changed_kind"();

-- Counts are written with the rights of the owner: requests need none of their own any more.
CREATE OR REPLACE FUNCTION "count_changed_tickets"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
BEGIN
  IF current_setting('itsm.kinds_changed', true) IS DISTINCT FROM 'on' THEN
    RETURN NULL;
  END IF;
  INSERT INTO "ticket_counts" AS c ("tenant_id", "assignee_id", "status", "priority", "type", "category", "count")
  SELECT v."tenant_id", a.id, v."status", v."priority", v."type", COALESCE(v."category", ''), sum(v.change)
  FROM (
    SELECT "tenant_id", "assignee_id", "status", "priority", "type", "category", -1 AS change FROM "before"
    UNION ALL
    SELECT "tenant_id", "assignee_id", "status", "priority", "type", "category", 1 FROM "after"
  ) AS v
  CROSS JOIN LATERAL (VALUES (0::bigint), (v."assignee_id")) AS a (id)
  WHERE a.id IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(v.change) <> 0 ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT ("tenant_id", "assignee_id", "status", "priority", "type", "category")
  DO UPDATE SET "count" = c."count" + EXCLUDED."count";
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "tickets_count_changed" AFTER UPDATE ON "tickets"
  REFERENCING OLD TABLE AS "before" NEW TABLE AS "after"
  FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_tickets"();

CREATE OR REPLACE FUNCTION "count_new_tickets"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = "public", "pg_temp" AS $$
BEGIN
  INSERT INTO "ticket_counts" AS c ("tenant_id", "assignee_id", "status", "priority", "type", "category", "count")
  SELECT "tenant_id", a.id, "status", "priority", "type", COALESCE("category", ''), count(*)
  FROM "added" CROSS JOIN LATERAL (VALUES (0::bigint), ("assignee_id")) AS a (id)
  WHERE a.id IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT ("tenant_id", "assignee_id", "status", "priority", "type", "category")
  DO UPDATE SET "count" = c."count" + EXCLUDED."count";
  RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION "note_changed_kind"(), "count_changed_tickets"(), "count_new_tickets"() FROM PUBLIC;
