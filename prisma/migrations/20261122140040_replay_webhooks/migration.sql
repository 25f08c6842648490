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
