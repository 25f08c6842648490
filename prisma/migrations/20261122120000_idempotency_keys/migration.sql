-- What a POST with an Idempotency-Key was answered (docs/decisions/idempotency.md).
-- CreateTable
CREATE TABLE "idempotency_keys" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "key_id" BIGINT NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "status" SMALLINT NOT NULL,
    "answer" TEXT NOT NULL,
    "etag" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("tenant_id","key_id","key")
);

-- CreateIndex
CREATE INDEX "idempotency_keys_tenant_id_created_at_idx" ON "idempotency_keys"("tenant_id", "created_at");

-- What follows is written by hand.

-- All rows of a day go again: what they leave behind is cleared away before the next round has to step over it.
ALTER TABLE "idempotency_keys" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);

ALTER TABLE "idempotency_keys" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "idempotency_keys" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "idempotency_keys" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON "idempotency_keys" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "idempotency_keys" TO "itsm_system";
