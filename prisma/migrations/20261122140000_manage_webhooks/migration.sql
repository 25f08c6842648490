-- What integrators manage of their webhooks (docs/decisions/webhook-subscriptions.md). The release before goes on as it
-- is: every column has a default or may be null.
ALTER TABLE "webhook_subscriptions"
  ADD COLUMN "previous_secret" BYTEA,
  ADD COLUMN "previous_secret_until" TIMESTAMPTZ(3),
  ADD COLUMN "filter" JSONB,
  ADD COLUMN "skip_own" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "key_id" BIGINT,
  ADD COLUMN "held" BOOLEAN NOT NULL DEFAULT false,
  ADD CONSTRAINT "webhook_subscriptions_tenant_id_key_id_fkey" FOREIGN KEY ("tenant_id", "key_id")
    REFERENCES "api_keys"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- An answer that can't have come of a private network. Requests are shown no other.
ALTER TABLE "delivery_attempts" ADD COLUMN "public_answer" TEXT;

-- Which key another was made to take the place of. Requests follow it from their own key to the one that made a
-- subscription, and see nothing else of keys.
ALTER TABLE "api_keys"
  ADD COLUMN "rotated_from" BIGINT,
  ADD CONSTRAINT "api_keys_tenant_id_rotated_from_fkey" FOREIGN KEY ("tenant_id", "rotated_from")
    REFERENCES "api_keys"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;
GRANT SELECT ("tenant_id", "id", "rotated_from") ON "api_keys" TO "itsm_request";

-- While its owner has paused a subscription its circuit stays open, whatever an attempt tells that was under way: also
-- one of a worker of the release before, which knows only circuits.
CREATE FUNCTION "hold_webhook"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.open_until := '9999-12-31 00:00:00+00';
  NEW.paused_at := coalesce(OLD.paused_at, now());
  NEW.paused_reason := 'Paused by its owner.';
  RETURN NEW;
END
$$;
CREATE TRIGGER "webhook_subscriptions_hold" BEFORE UPDATE ON "webhook_subscriptions"
  FOR EACH ROW WHEN (NEW.held) EXECUTE FUNCTION "hold_webhook"();

CREATE TABLE "webhook_replays" (
  "tenant_id" BIGINT NOT NULL DEFAULT 0,
  "id" BIGSERIAL NOT NULL,
  "subscription_id" BIGINT NOT NULL,
  "since" TIMESTAMPTZ(3) NOT NULL,
  "states" TEXT[],
  "after_id" BIGINT NOT NULL DEFAULT 0,
  "asked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "worked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

  CONSTRAINT "webhook_replays_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "webhook_replays_tenant_id_subscription_id_fkey" FOREIGN KEY ("tenant_id", "subscription_id")
    REFERENCES "webhook_subscriptions"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE
);

ALTER TABLE "webhook_replays" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "webhook_replays" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "webhook_replays" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON "webhook_replays" TO "itsm_request";
GRANT USAGE ON SEQUENCE "webhook_replays_id_seq" TO "itsm_request", "itsm_system";
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_replays" TO "itsm_system";

-- What came of a delivery is told by the API now, but for the answers of private networks.
GRANT SELECT ("tenant_id", "id", "delivery_id", "number", "started_at", "duration_ms", "status", "error", "public_answer")
  ON "delivery_attempts" TO "itsm_request";

-- The version of a subscription moves with what somebody changes of it, and with nothing that workers note of its health:
-- who holds a change to a version is kept from it by other changes alone (docs/decisions/concurrency.md).
CREATE OR REPLACE TRIGGER "webhook_subscriptions_next_version" BEFORE UPDATE ON "webhook_subscriptions" FOR EACH ROW
  WHEN ((OLD."updated_at", OLD."url", OLD."events", OLD."filter", OLD."skip_own", OLD."active", OLD."held")
    IS DISTINCT FROM (NEW."updated_at", NEW."url", NEW."events", NEW."filter", NEW."skip_own", NEW."active", NEW."held"))
  EXECUTE FUNCTION "next_version"();
