-- Returns the values of the filterable custom fields in a JSON object, each as text. A list has several values. No option
-- is longer than 100 characters, and an index entry can't contain very long texts.
CREATE FUNCTION filterable_values(tenant bigint, resource_name text, fields jsonb)
RETURNS TABLE (key text, value text) LANGUAGE sql STABLE AS $$
  SELECT d.key, v.value FROM custom_field_definitions d
  CROSS JOIN LATERAL jsonb_array_elements_text(
    CASE jsonb_typeof(fields -> d.key) WHEN 'array' THEN fields -> d.key ELSE jsonb_build_array(fields -> d.key) END
  ) AS v (value)
  WHERE d.tenant_id = tenant AND d.resource = resource_name AND d.filterable AND fields ? d.key
    AND length(v.value) <= 100
$$;
REVOKE ALL ON FUNCTION filterable_values(bigint, text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION filterable_values(bigint, text, jsonb) TO itsm_system;

-- The values of the filterable custom fields of tickets, for the filter customFields. note_changed_ticket() writes the
-- rows, so requests can only read them, and the table needs no foreign key to tickets. status is a copy of the ticket's
-- status, so that the filters by a field and status read only an index. A job writes the rows of older tickets.
CREATE TABLE "ticket_field_values" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "ticket_id" bigint NOT NULL,
  "key" text COLLATE "C" NOT NULL,
  "value" text COLLATE "C" NOT NULL,
  "status" text COLLATE "C" NOT NULL,
  PRIMARY KEY ("tenant_id", "ticket_id", "key", "value")
);
CREATE INDEX ON "ticket_field_values" ("tenant_id", "key", "value", "ticket_id" DESC, "status");

ALTER TABLE "ticket_field_values" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "ticket_field_values" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "ticket_field_values" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT ON "ticket_field_values" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "ticket_field_values" TO "itsm_system";

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
    IF NEW.custom_fields <> '{}' THEN
      INSERT INTO ticket_field_values (tenant_id, ticket_id, key, value, status)
      SELECT NEW.tenant_id, NEW.id, key, value, NEW.status
      FROM filterable_values(NEW.tenant_id, 'TICKET', NEW.custom_fields) ON CONFLICT DO NOTHING;
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
  IF OLD.custom_fields <> NEW.custom_fields THEN
    DELETE FROM ticket_field_values
    WHERE tenant_id = NEW.tenant_id AND ticket_id = NEW.id AND (key, value) NOT IN (
      SELECT key, value FROM filterable_values(NEW.tenant_id, 'TICKET', NEW.custom_fields));
    INSERT INTO ticket_field_values (tenant_id, ticket_id, key, value, status)
    SELECT NEW.tenant_id, NEW.id, key, value, NEW.status
    FROM filterable_values(NEW.tenant_id, 'TICKET', NEW.custom_fields) ON CONFLICT DO NOTHING;
  END IF;
  IF OLD.status <> NEW.status AND NEW.custom_fields <> '{}' THEN
    UPDATE ticket_field_values SET status = NEW.status
    WHERE tenant_id = NEW.tenant_id AND ticket_id = NEW.id AND status <> NEW.status;
  END IF;
  RETURN NULL;
END
$$;
