-- What was asked for with each key, by minute and by hour (docs/decisions/usage.md).
-- CreateTable
CREATE TABLE "usage_minutes" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "at" TIMESTAMPTZ(0) NOT NULL,
    "key_id" BIGINT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "requests" INTEGER NOT NULL,
    "latencies" INTEGER[],
    "global_peak" SMALLINT NOT NULL,
    "group_peak" SMALLINT NOT NULL,

    CONSTRAINT "usage_minutes_pkey" PRIMARY KEY ("tenant_id","at","key_id","endpoint","outcome")
);

-- CreateTable
CREATE TABLE "usage_hours" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "at" TIMESTAMPTZ(0) NOT NULL,
    "key_id" BIGINT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "requests" INTEGER NOT NULL,
    "latencies" INTEGER[],
    "global_peak" SMALLINT NOT NULL,
    "group_peak" SMALLINT NOT NULL,

    CONSTRAINT "usage_hours_pkey" PRIMARY KEY ("tenant_id","at","key_id","endpoint","outcome")
);

-- CreateIndex
CREATE INDEX "usage_minutes_near_idx" ON "usage_minutes"("tenant_id", "at", "key_id") WHERE ((global_peak >= 80) OR (group_peak >= 80));

-- CreateIndex
CREATE INDEX "usage_hours_near_idx" ON "usage_hours"("tenant_id", "at", "key_id") WHERE ((global_peak >= 80) OR (group_peak >= 80));

-- What follows is written by hand.

ALTER TABLE "usage_minutes" ADD CONSTRAINT "usage_minutes_outcome_check" CHECK ("outcome" IN
  ('SUCCESSFUL', 'REDIRECTION', 'CLIENT_ERROR', 'SERVER_ERROR', 'GLOBAL_LIMIT', 'GROUP_LIMIT', 'FAIR_USE'));
ALTER TABLE "usage_hours" ADD CONSTRAINT "usage_hours_outcome_check" CHECK ("outcome" IN
  ('SUCCESSFUL', 'REDIRECTION', 'CLIENT_ERROR', 'SERVER_ERROR', 'GLOBAL_LIMIT', 'GROUP_LIMIT', 'FAIR_USE'));

-- A row of the moment is written anew every few seconds: there is room for that on its page. All rows go again, and what
-- they leave behind is cleared away before the next round has to step over it.
ALTER TABLE "usage_minutes" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
ALTER TABLE "usage_hours" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);

ALTER TABLE "usage_minutes" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "usage_minutes" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "usage_minutes" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT ON "usage_minutes" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "usage_minutes" TO "itsm_system";

ALTER TABLE "usage_hours" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "usage_hours" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "usage_hours" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT ON "usage_hours" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "usage_hours" TO "itsm_system";
