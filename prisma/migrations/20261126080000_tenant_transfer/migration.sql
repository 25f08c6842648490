-- True from the start to the end of an import or a deletion. In this time, the tenant stays in maintenance.
ALTER TABLE "tenants" ADD COLUMN "incomplete" boolean NOT NULL DEFAULT false;

-- The tenants that were deleted. The column isn't named tenant_id, because the row must outlive the tenant.
CREATE TABLE "deleted_tenants" (
  "id" bigint NOT NULL,
  "name" text NOT NULL,
  "began_at" timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "completed_at" timestamptz(3),
  "os_user" text,
  "rows" jsonb NOT NULL,
  PRIMARY KEY ("id", "began_at")
);
GRANT SELECT, INSERT, UPDATE, DELETE ON "deleted_tenants" TO "itsm_system";

-- Only the deletion of a whole tenant deletes tickets.
CREATE OR REPLACE FUNCTION refuse_deleting_tickets() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'DELETE' AND OLD.tenant_id::text = current_setting('itsm.deleted_tenant', true) THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION 'Tickets are never deleted, because their ordinals must have no gaps.'
      USING HINT = 'Give the ticket the status CANCELLED instead.';
  END
$$;
