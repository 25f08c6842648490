-- The number of links of a ticket, in both directions.
ALTER TABLE "tickets" ADD COLUMN "link_count" integer NOT NULL DEFAULT 0;

-- A link from a ticket to another ticket. The server locks both tickets before it writes a link.
CREATE TABLE "ticket_links" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "id" bigserial,
  "type" text COLLATE "C" NOT NULL CHECK ("type" IN ('RELATES_TO', 'DUPLICATES', 'CAUSED_BY', 'BLOCKS')),
  "ticket_id" bigint NOT NULL,
  "target_id" bigint NOT NULL,
  "created_at" timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("tenant_id", "id"),
  FOREIGN KEY ("tenant_id", "target_id") REFERENCES "tickets" ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY ("tenant_id", "ticket_id") REFERENCES "tickets" ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE UNIQUE INDEX "ticket_links_tenant_id_ticket_id_target_id_type_key"
  ON "ticket_links" ("tenant_id", "ticket_id", "target_id", "type");
CREATE INDEX ON "ticket_links" ("tenant_id", "target_id");

ALTER TABLE "ticket_links" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "ticket_links" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "ticket_links" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, DELETE ON "ticket_links" TO "itsm_request";
GRANT USAGE ON SEQUENCE "ticket_links_id_seq" TO "itsm_request", "itsm_system";
GRANT SELECT, INSERT, UPDATE, DELETE ON "ticket_links" TO "itsm_system";
