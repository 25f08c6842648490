-- The counts of tickets follow an update as they follow an insert: once for all the rows of the statement, in the order of
-- their key. Row by row, two updates of many tickets would each wait for a count that the other has changed.
-- Written by hand.
CREATE FUNCTION "count_changed_tickets"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Most updates leave the kinds alone.
  IF NOT EXISTS (
    SELECT FROM (
      SELECT "tenant_id", "assignee_id", "status", "priority", "type", "category", 1 AS change FROM "after"
      UNION ALL
      SELECT "tenant_id", "assignee_id", "status", "priority", "type", "category", -1 FROM "before"
    ) AS v
    GROUP BY "tenant_id", "assignee_id", "status", "priority", "type", "category" HAVING sum(v.change) <> 0
  ) THEN
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
