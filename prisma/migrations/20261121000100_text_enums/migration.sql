-- Written by hand. Every enum becomes text with a CHECK of the same values: under row-level security an operator reaches
-- an index only when it is leakproof, which that of text is and that of enums is not (docs/decisions/tenancy.md), and a
-- value can be added while older processes run. Compared byte by byte, whatever language the database was made for.
-- Each table is rewritten once, with its indexes, and nobody reads it meanwhile: 30 seconds for a million tickets, some
-- five minutes for ten million.

-- These look at the columns that change.
DROP TRIGGER "tickets_count_changed" ON "tickets";
DROP TRIGGER "tickets_count_deleted" ON "tickets";
DROP FUNCTION "count_deleted_tickets"();
DROP INDEX "deliveries_due_idx";
-- One that leads to all kinds of an assignee's tickets stands in its place.
DROP INDEX "tickets_tenant_id_assignee_id_status_id_idx";

ALTER TABLE "tickets"
  ALTER COLUMN "status" DROP DEFAULT,
  ALTER COLUMN "priority" DROP DEFAULT,
  ALTER COLUMN "type" TYPE TEXT COLLATE "C",
  ALTER COLUMN "status" TYPE TEXT COLLATE "C",
  ALTER COLUMN "priority" TYPE TEXT COLLATE "C",
  ALTER COLUMN "category" TYPE TEXT COLLATE "C",
  ALTER COLUMN "status" SET DEFAULT 'OPEN',
  ALTER COLUMN "priority" SET DEFAULT 'MEDIUM',
  ADD CONSTRAINT "tickets_type_check" CHECK ("type" IN ('INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST')),
  ADD CONSTRAINT "tickets_status_check"
    CHECK ("status" IN ('OPEN', 'IN_PROGRESS', 'PENDING', 'RESOLVED', 'CLOSED', 'CANCELLED')),
  ADD CONSTRAINT "tickets_priority_check" CHECK ("priority" IN ('LOW', 'MEDIUM', 'HIGH', 'CRITICAL')),
  ADD CONSTRAINT "tickets_category_check"
    CHECK ("category" IN ('SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER'));

CREATE INDEX "tickets_assignee_kind_idx" ON "tickets"("tenant_id", "assignee_id", "status", "priority", "type", "category", "id" DESC);

-- Its rows come from the tickets, by triggers: what those may hold is checked there.
ALTER TABLE "ticket_counts"
  ALTER COLUMN "status" TYPE TEXT COLLATE "C",
  ALTER COLUMN "priority" TYPE TEXT COLLATE "C",
  ALTER COLUMN "type" TYPE TEXT COLLATE "C",
  ALTER COLUMN "category" TYPE TEXT COLLATE "C";

ALTER TABLE "assets"
  ALTER COLUMN "status" DROP DEFAULT,
  ALTER COLUMN "type" TYPE TEXT COLLATE "C",
  ALTER COLUMN "status" TYPE TEXT COLLATE "C",
  ALTER COLUMN "status" SET DEFAULT 'IN_STOCK',
  ADD CONSTRAINT "assets_type_check"
    CHECK ("type" IN ('LAPTOP', 'DESKTOP', 'SERVER', 'MOBILE', 'NETWORK', 'PRINTER', 'SOFTWARE', 'OTHER')),
  ADD CONSTRAINT "assets_status_check" CHECK ("status" IN
    ('ON_ORDER', 'IN_STOCK', 'IN_TRANSIT', 'IN_USE', 'MAINTENANCE', 'RETIRED', 'DISPOSED', 'LOST'));

ALTER TABLE "projects"
  ALTER COLUMN "status" DROP DEFAULT,
  ALTER COLUMN "priority" DROP DEFAULT,
  ALTER COLUMN "status" TYPE TEXT COLLATE "C",
  ALTER COLUMN "priority" TYPE TEXT COLLATE "C",
  ALTER COLUMN "status" SET DEFAULT 'PLANNED',
  ALTER COLUMN "priority" SET DEFAULT 'MEDIUM',
  ADD CONSTRAINT "projects_status_check"
    CHECK ("status" IN ('PLANNED', 'ACTIVE', 'ON_HOLD', 'COMPLETED', 'CANCELLED')),
  ADD CONSTRAINT "projects_priority_check" CHECK ("priority" IN ('LOW', 'MEDIUM', 'HIGH', 'CRITICAL'));

ALTER TABLE "tasks"
  ALTER COLUMN "status" DROP DEFAULT,
  ALTER COLUMN "priority" DROP DEFAULT,
  ALTER COLUMN "status" TYPE TEXT COLLATE "C",
  ALTER COLUMN "priority" TYPE TEXT COLLATE "C",
  ALTER COLUMN "status" SET DEFAULT 'TODO',
  ALTER COLUMN "priority" SET DEFAULT 'MEDIUM',
  ADD CONSTRAINT "tasks_status_check"
    CHECK ("status" IN ('TODO', 'IN_PROGRESS', 'BLOCKED', 'DONE', 'CANCELLED')),
  ADD CONSTRAINT "tasks_priority_check" CHECK ("priority" IN ('LOW', 'MEDIUM', 'HIGH', 'CRITICAL'));

ALTER TABLE "users"
  ALTER COLUMN "role" TYPE TEXT COLLATE "C",
  ADD CONSTRAINT "users_role_check" CHECK ("role" IN ('ADMIN', 'AGENT', 'REQUESTER'));

ALTER TABLE "deliveries"
  ALTER COLUMN "state" DROP DEFAULT,
  ALTER COLUMN "state" TYPE TEXT COLLATE "C",
  ALTER COLUMN "state" SET DEFAULT 'PENDING',
  ADD CONSTRAINT "deliveries_state_check"
    CHECK ("state" IN ('PENDING', 'DELIVERED', 'EXHAUSTED', 'CANCELLED'));

CREATE INDEX "deliveries_due_idx" ON "deliveries"("tenant_id", "subscription_id", "next_attempt_at") WHERE ("state" = 'PENDING');

DROP TYPE "UserRole", "TicketType", "TicketStatus", "Priority", "TicketCategory", "AssetType", "AssetStatus",
  "ProjectStatus", "TaskStatus", "DeliveryState";

-- The triggers that count, without the casts. A ticket that changes its tenant is counted there, too.
CREATE OR REPLACE FUNCTION "count_new_tickets"() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE FUNCTION "count_changed_ticket"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "ticket_counts" AS c ("tenant_id", "assignee_id", "status", "priority", "type", "category", "count")
  SELECT v.tenant_id, a.id, v.status, v.priority, v.type, COALESCE(v.category, ''), sum(v.change)
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

CREATE TRIGGER "tickets_count_changed" AFTER UPDATE ON "tickets" FOR EACH ROW
  WHEN ((OLD."tenant_id", OLD."status", OLD."priority", OLD."type", OLD."category", OLD."assignee_id")
    IS DISTINCT FROM (NEW."tenant_id", NEW."status", NEW."priority", NEW."type", NEW."category", NEW."assignee_id"))
  EXECUTE FUNCTION "count_changed_ticket"();

-- Pages are found by ordinals, which must be without a gap (docs/decisions/totals.md).
CREATE FUNCTION "refuse_deleting_tickets"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Tickets are never deleted: their ordinals must be without a gap, and totals count on it.'
    USING HINT = 'Give the ticket the status CANCELLED instead.';
END
$$;

CREATE TRIGGER "tickets_refuse_delete" BEFORE DELETE ON "tickets"
  FOR EACH ROW EXECUTE FUNCTION "refuse_deleting_tickets"();
CREATE TRIGGER "tickets_refuse_truncate" BEFORE TRUNCATE ON "tickets"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_deleting_tickets"();
