-- The watchers of a ticket, in ascending order, so that a ticket is one row. The trigger function of tickets fills
-- ticket_watchers.
ALTER TABLE "tickets" ADD COLUMN "watcher_ids" bigint[] NOT NULL DEFAULT ARRAY[]::bigint[];

-- Tickets keep their versions and their positions in the change feed, because the API already returned the watchers.
ALTER TABLE "tickets" DISABLE TRIGGER USER;
UPDATE "tickets" t SET "watcher_ids" = w.ids FROM (
  SELECT tenant_id, ticket_id, array_agg(user_id ORDER BY user_id) AS ids FROM "ticket_watchers" GROUP BY 1, 2
) AS w WHERE t.tenant_id = w.tenant_id AND t.id = w.ticket_id;
ALTER TABLE "tickets" ENABLE TRIGGER USER;

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
  RETURN NULL;
END
$$;
