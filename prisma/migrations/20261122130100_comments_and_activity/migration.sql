-- CreateTable
CREATE TABLE "comments" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "ticket_id" BIGINT NOT NULL,
    "author_id" BIGINT NOT NULL,
    "body" TEXT NOT NULL,
    "visibility" TEXT COLLATE "C" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "comments_pkey" PRIMARY KEY ("tenant_id","id"),
    CONSTRAINT "comments_visibility_check" CHECK ("visibility" IN ('PUBLIC', 'INTERNAL'))
);

-- CreateTable. Its key is also the way to what happened to one row: one index, where each write of a ticket adds a row. To
-- CHECK its values would cost as much as writing them does; one function of the server does that.
CREATE TABLE "activities" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "resource" TEXT COLLATE "C" NOT NULL,
    "resource_id" BIGINT NOT NULL,
    "action" TEXT COLLATE "C" NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "actor_user_id" BIGINT,
    "actor_key_id" BIGINT,
    "changes" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "activities_pkey" PRIMARY KEY ("tenant_id","resource","resource_id","id")
);

-- CreateIndex
CREATE INDEX "comments_tenant_id_ticket_id_id_idx" ON "comments"("tenant_id", "ticket_id", "id" DESC);

-- Row-level security
ALTER TABLE "comments" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "comments" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "comments" TO "itsm_system" USING (true) WITH CHECK (true);
ALTER TABLE "activities" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "activities" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "activities" TO "itsm_system" USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON "comments", "activities" TO "itsm_request";
GRANT USAGE ON SEQUENCE "comments_id_seq", "activities_id_seq" TO "itsm_request", "itsm_system";
GRANT SELECT, INSERT, UPDATE, DELETE ON "comments", "activities" TO "itsm_system";
