-- What integrators manage of their webhooks (docs/decisions/webhook-subscriptions.md): here of the subscriptions. The
-- release before goes on as it is: every column has a default or may be null.
ALTER TABLE "webhook_subscriptions"
  ADD COLUMN "previous_secret" BYTEA,
  ADD COLUMN "previous_secret_until" TIMESTAMPTZ(3),
  ADD COLUMN "filter" JSONB,
  ADD COLUMN "skip_own" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "key_id" BIGINT,
  ADD COLUMN "held" BOOLEAN NOT NULL DEFAULT false;

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

-- The version of a subscription moves with what somebody changes of it, and with nothing that workers note of its health:
-- who holds a change to a version is kept from it by other changes alone (docs/decisions/concurrency.md).
CREATE OR REPLACE TRIGGER "webhook_subscriptions_next_version" BEFORE UPDATE ON "webhook_subscriptions" FOR EACH ROW
  WHEN ((OLD."updated_at", OLD."url", OLD."events", OLD."filter", OLD."skip_own", OLD."active", OLD."held")
    IS DISTINCT FROM (NEW."updated_at", NEW."url", NEW."events", NEW."filter", NEW."skip_own", NEW."active", NEW."held"))
  EXECUTE FUNCTION "next_version"();
