-- A request with an API key (docs/decisions/request-log.md). No foreign keys, because a check of each row would double
-- the cost of a write.
CREATE TABLE "request_log" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "id" bigserial,
  "at" timestamptz(3) NOT NULL,
  "key_id" bigint NOT NULL,
  "milliseconds" integer NOT NULL,
  "status" smallint NOT NULL,
  "method" text COLLATE "C" NOT NULL,
  "error_code" text COLLATE "C",
  "request_id" text COLLATE "C" NOT NULL,
  "path" text COLLATE "C" NOT NULL,
  "address" text COLLATE "C" NOT NULL,
  PRIMARY KEY ("tenant_id", "key_id", "status", "at", "id")
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
CREATE INDEX ON "request_log" ("tenant_id", "request_id");

-- The number of requests of a workspace in one minute, whether the log keeps them or not.
CREATE TABLE "request_log_minutes" (
  "tenant_id" bigint NOT NULL DEFAULT 0,
  "at" timestamptz(0) NOT NULL,
  "successes" integer NOT NULL,
  "errors" integer NOT NULL,
  "rate_limited" integer NOT NULL,
  PRIMARY KEY ("tenant_id", "at")
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);

ALTER TABLE "request_log" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "request_log" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "request_log" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT ON "request_log" TO "itsm_request";
GRANT USAGE ON SEQUENCE "request_log_id_seq" TO "itsm_system";
GRANT SELECT, INSERT, UPDATE, DELETE ON "request_log" TO "itsm_system";

ALTER TABLE "request_log_minutes" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "request_log_minutes" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "request_log_minutes" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT ON "request_log_minutes" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "request_log_minutes" TO "itsm_system";
