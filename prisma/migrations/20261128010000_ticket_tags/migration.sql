-- The tags of tickets, in ascending order without duplicates (docs/decisions/tags.md).
ALTER TABLE "tickets" ADD COLUMN "tags" text[] COLLATE "C" NOT NULL DEFAULT ARRAY[]::text[];

-- The tags of tickets, for the filter by tag. note_changed_ticket() writes the rows, so requests can only read them, and
-- the table needs no foreign key to tickets. status is a copy of the ticket's status, so that the filters by tag and
-- status read only an index.
CREATE TABLE "tagged_tickets" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "ticket_id" bigint NOT NULL,
  "tag" text COLLATE "C" NOT NULL,
  "status" text COLLATE "C" NOT NULL,
  PRIMARY KEY ("tenant_id", "ticket_id", "tag")
);
CREATE INDEX ON "tagged_tickets" ("tenant_id", "tag", "ticket_id" DESC, "status");

ALTER TABLE "tagged_tickets" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "tagged_tickets" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "tagged_tickets" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT ON "tagged_tickets" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "tagged_tickets" TO "itsm_system";

-- The trigger function of tickets. It is the only row trigger after a write, because PostgreSQL evaluates the condition
-- of each trigger for each statement. The trigger tickets_text_new writes the words of new rows.
CREATE OR REPLACE FUNCTION note_changed_ticket() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  noted CONSTANT bigint := note_change(NEW.tenant_id, 'tickets', NEW.id, TG_OP = 'INSERT');
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.asset_ids <> '{}' THEN
      INSERT INTO ticket_assets (tenant_id, ticket_id, asset_id, status)
      SELECT NEW.tenant_id, NEW.id, unnest(NEW.asset_ids), NEW.status ON CONFLICT DO NOTHING;
    END IF;
    IF NEW.watcher_ids <> '{}' THEN
      INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id)
      SELECT NEW.tenant_id, NEW.id, unnest(NEW.watcher_ids) ON CONFLICT DO NOTHING;
    END IF;
    IF NEW.tags <> '{}' THEN
      INSERT INTO tagged_tickets (tenant_id, ticket_id, tag, status)
      SELECT NEW.tenant_id, NEW.id, unnest(NEW.tags), NEW.status ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
  END IF;
  IF (OLD.tenant_id, OLD.status, OLD.priority, OLD.type, OLD.category, OLD.assignee_id)
    IS DISTINCT FROM (NEW.tenant_id, NEW.status, NEW.priority, NEW.type, NEW.category, NEW.assignee_id)
  THEN
    -- count_changed_tickets() reads this setting at the end of the statement.
    PERFORM set_config('itsm.kinds_changed', 'on', true);
  END IF;
  IF (OLD.tenant_id, OLD.id, OLD.ordinal, OLD.type, OLD.number, OLD.title, OLD.description)
    IS DISTINCT FROM (NEW.tenant_id, NEW.id, NEW.ordinal, NEW.type, NEW.number, NEW.title, NEW.description)
  THEN
    UPDATE texts SET document =
      ticket_document(NEW.tenant_id, NEW.ordinal, NEW.type, NEW.number, NEW.title, NEW.description)
    WHERE tenant_id = NEW.tenant_id AND resource = 'tickets' AND id = NEW.id;
  END IF;
  IF OLD.asset_ids <> NEW.asset_ids OR (OLD.status <> NEW.status AND NEW.asset_ids <> '{}') THEN
    DELETE FROM ticket_assets
    WHERE tenant_id = NEW.tenant_id AND ticket_id = NEW.id AND asset_id <> ALL (NEW.asset_ids);
    INSERT INTO ticket_assets AS a (tenant_id, ticket_id, asset_id, status)
    SELECT NEW.tenant_id, NEW.id, unnest(NEW.asset_ids), NEW.status
    ON CONFLICT (tenant_id, ticket_id, asset_id) DO UPDATE SET status = EXCLUDED.status
    WHERE a.status <> EXCLUDED.status;
  END IF;
  IF OLD.watcher_ids <> NEW.watcher_ids THEN
    DELETE FROM ticket_watchers
    WHERE tenant_id = NEW.tenant_id AND ticket_id = NEW.id AND user_id <> ALL (NEW.watcher_ids);
    INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id)
    SELECT NEW.tenant_id, NEW.id, unnest(NEW.watcher_ids) ON CONFLICT DO NOTHING;
  END IF;
  IF OLD.tags <> NEW.tags THEN
    DELETE FROM tagged_tickets WHERE tenant_id = NEW.tenant_id AND ticket_id = NEW.id AND tag <> ALL (NEW.tags);
    INSERT INTO tagged_tickets (tenant_id, ticket_id, tag, status)
    SELECT NEW.tenant_id, NEW.id, unnest(NEW.tags), NEW.status ON CONFLICT DO NOTHING;
  END IF;
  IF OLD.status <> NEW.status AND NEW.tags <> '{}' THEN
    UPDATE tagged_tickets SET status = NEW.status
    WHERE tenant_id = NEW.tenant_id AND ticket_id = NEW.id AND status <> NEW.status;
  END IF;
  RETURN NULL;
END
$$;
