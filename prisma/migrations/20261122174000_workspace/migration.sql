-- What the developer area makes and changes, for which v1 has no endpoint (docs/decisions/tenancy.md).
GRANT INSERT, UPDATE ON "users", "projects" TO "itsm_request";
GRANT USAGE ON SEQUENCE "users_id_seq", "projects_id_seq" TO "itsm_request";

-- CreateTable
CREATE TABLE "csv_uploads" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "user_id" BIGINT NOT NULL,
    "resource" TEXT NOT NULL,
    "content" BYTEA NOT NULL,
    "preview" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "csv_uploads_pkey" PRIMARY KEY ("tenant_id","user_id","resource")
);

-- AddForeignKey
ALTER TABLE "csv_uploads" ADD CONSTRAINT "csv_uploads_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What follows is written by hand.
ALTER TABLE "csv_uploads" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "request" ON "csv_uploads" TO "itsm_request"
  USING ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint))
  WITH CHECK ("tenant_id" = (SELECT nullif(current_setting('itsm.tenant_id', true), '')::bigint));
CREATE POLICY "system" ON "csv_uploads" TO "itsm_system" USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON "csv_uploads" TO "itsm_request";
GRANT SELECT, INSERT, UPDATE, DELETE ON "csv_uploads" TO "itsm_system";
