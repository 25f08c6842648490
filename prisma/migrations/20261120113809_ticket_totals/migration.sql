-- AlterTable, in three steps: the tickets that are there get the ordinals of their order.
ALTER TABLE "tickets" ADD COLUMN     "ordinal" INTEGER;
UPDATE "tickets" t SET "ordinal" = n."ordinal"
FROM (SELECT "tenant_id", "id", row_number() OVER (PARTITION BY "tenant_id" ORDER BY "id") AS "ordinal" FROM "tickets") n
WHERE n."tenant_id" = t."tenant_id" AND n."id" = t."id";
ALTER TABLE "tickets" ALTER COLUMN "ordinal" SET NOT NULL;

-- CreateTable
CREATE TABLE "ticket_sequences" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "total" INTEGER NOT NULL DEFAULT 0,
    "incident" INTEGER NOT NULL DEFAULT 0,
    "problem" INTEGER NOT NULL DEFAULT 0,
    "change" INTEGER NOT NULL DEFAULT 0,
    "service_request" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "ticket_sequences_pkey" PRIMARY KEY ("tenant_id")
);

-- CreateTable
CREATE TABLE "ticket_counts" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "assignee_id" BIGINT NOT NULL,
    "status" "TicketStatus" NOT NULL,
    "priority" "Priority" NOT NULL,
    "type" "TicketType" NOT NULL,
    "category" TEXT NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "ticket_counts_pkey" PRIMARY KEY ("tenant_id","assignee_id","status","priority","type","category")
);

-- CreateIndex
CREATE INDEX "tickets_tenant_id_assignee_id_status_id_idx" ON "tickets"("tenant_id", "assignee_id", "status", "id" DESC);

-- CreateIndex
CREATE INDEX "tickets_kind_idx" ON "tickets"("tenant_id", "status", "priority", "type", "category", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "tickets_tenant_id_ordinal_key" ON "tickets"("tenant_id", "ordinal");

-- AddForeignKey
ALTER TABLE "ticket_sequences" ADD CONSTRAINT "ticket_sequences_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What follows is written by hand.

-- The sequences go on from the numbers given out.
INSERT INTO "ticket_sequences" ("tenant_id", "total", "incident", "problem", "change", "service_request")
SELECT n."tenant_id", (SELECT count(*) FROM "tickets" t WHERE t."tenant_id" = n."tenant_id"),
  COALESCE(max(n."last") FILTER (WHERE n."type" = 'INCIDENT'), 0),
  COALESCE(max(n."last") FILTER (WHERE n."type" = 'PROBLEM'), 0),
  COALESCE(max(n."last") FILTER (WHERE n."type" = 'CHANGE'), 0),
  COALESCE(max(n."last") FILTER (WHERE n."type" = 'SERVICE_REQUEST'), 0)
FROM "ticket_numbers" n GROUP BY n."tenant_id";

-- DropTable
DROP TABLE "ticket_numbers";

-- Rows that are updated all the time: room on the page for their next versions, so that no index is touched.
ALTER TABLE "ticket_sequences" SET (fillfactor = 20);
ALTER TABLE "ticket_counts" SET (fillfactor = 50);

-- Exact totals (docs/decisions/totals.md). The tickets of each kind are counted in the transaction that writes them:
-- once for everybody (assignee 0) and once for the assignee. Rows are changed in the order of their key, so that two
-- transactions can't wait for each other.
CREATE FUNCTION "count_new_tickets"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "ticket_counts" AS c ("tenant_id", "assignee_id", "status", "priority", "type", "category", "count")
  SELECT "tenant_id", a.id, "status", "priority", "type", COALESCE("category"::text, ''), count(*)
  FROM "added" CROSS JOIN LATERAL (VALUES (0::bigint), ("assignee_id")) AS a (id)
  WHERE a.id IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT ("tenant_id", "assignee_id", "status", "priority", "type", "category")
  DO UPDATE SET "count" = c."count" + EXCLUDED."count";
  RETURN NULL;
END
$$;

CREATE FUNCTION "count_changed_ticket"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "ticket_counts" AS c ("tenant_id", "assignee_id", "status", "priority", "type", "category", "count")
  SELECT v.tenant_id, a.id, v.status, v.priority, v.type, COALESCE(v.category::text, ''), sum(v.change)
  FROM (VALUES
    (OLD."tenant_id", OLD."assignee_id", OLD."status", OLD."priority", OLD."type", OLD."category", -1),
    (NEW."tenant_id", NEW."assignee_id", NEW."status", NEW."priority", NEW."type", NEW."category", 1)
  ) AS v (tenant_id, assignee_id, status, priority, type, category, change)
  CROSS JOIN LATERAL (VALUES (0::bigint), (v.assignee_id)) AS a (id)
  WHERE a.id IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(v.change) <> 0 ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT ("tenant_id", "assignee_id", "status", "priority", "type", "category")
  DO UPDATE SET "count" = c."count" + EXCLUDED."count";
  RETURN NULL;
END
$$;

CREATE FUNCTION "count_deleted_tickets"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "ticket_counts" AS c ("tenant_id", "assignee_id", "status", "priority", "type", "category", "count")
  SELECT "tenant_id", a.id, "status", "priority", "type", COALESCE("category"::text, ''), -count(*)
  FROM "removed" CROSS JOIN LATERAL (VALUES (0::bigint), ("assignee_id")) AS a (id)
  WHERE a.id IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT ("tenant_id", "assignee_id", "status", "priority", "type", "category")
  DO UPDATE SET "count" = c."count" + EXCLUDED."count";
  RETURN NULL;
END
$$;

-- By statement, so that millions of rows loaded at once are counted at once.
CREATE TRIGGER "tickets_count_new" AFTER INSERT ON "tickets"
  REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "count_new_tickets"();
CREATE TRIGGER "tickets_count_deleted" AFTER DELETE ON "tickets"
  REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "count_deleted_tickets"();
-- By row, since most updates change nothing that is counted.
CREATE TRIGGER "tickets_count_changed" AFTER UPDATE ON "tickets" FOR EACH ROW
  WHEN ((OLD."status", OLD."priority", OLD."type", OLD."category", OLD."assignee_id")
    IS DISTINCT FROM (NEW."status", NEW."priority", NEW."type", NEW."category", NEW."assignee_id"))
  EXECUTE FUNCTION "count_changed_ticket"();

-- The tickets that are there already.
INSERT INTO "ticket_counts" ("tenant_id", "assignee_id", "status", "priority", "type", "category", "count")
SELECT "tenant_id", a.id, "status", "priority", "type", COALESCE("category"::text, ''), count(*)
FROM "tickets" CROSS JOIN LATERAL (VALUES (0::bigint), ("assignee_id")) AS a (id)
WHERE a.id IS NOT NULL
GROUP BY 1, 2, 3, 4, 5, 6;
