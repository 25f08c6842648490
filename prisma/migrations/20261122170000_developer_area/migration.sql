-- Signing in to the developer area, and what was done there (docs/decisions/developer-area.md).
-- CreateTable
CREATE TABLE "invitations" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "user_id" BIGINT NOT NULL,
    "hash" BYTEA NOT NULL,
    "demo" BOOLEAN NOT NULL DEFAULT false,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "passwords" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "user_id" BIGINT NOT NULL,
    "hash" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "passwords_pkey" PRIMARY KEY ("tenant_id","user_id")
);

-- CreateTable
CREATE TABLE "passkeys" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "user_id" BIGINT NOT NULL,
    "credential_id" BYTEA NOT NULL,
    "public_key" BYTEA NOT NULL,
    "counter" BIGINT NOT NULL DEFAULT 0,
    "transports" TEXT[],
    "name" TEXT NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "passkeys_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "user_id" BIGINT NOT NULL,
    "hash" BYTEA NOT NULL,
    "address" TEXT NOT NULL,
    "user_agent" TEXT NOT NULL,
    "flash" TEXT,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "sign_in_failures" (
    "counted" BYTEA NOT NULL,
    "failures" INTEGER NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_failures_pkey" PRIMARY KEY ("counted")
);

-- CreateTable
CREATE TABLE "audit_entries" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "user_id" BIGINT,
    "action" TEXT NOT NULL,
    "subject" TEXT,
    "address" TEXT NOT NULL,
    "user_agent" TEXT NOT NULL,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateIndex
CREATE INDEX "invitations_tenant_id_user_id_idx" ON "invitations"("tenant_id", "user_id");

-- CreateIndex
CREATE UNIQUE INDEX "invitations_tenant_id_hash_key" ON "invitations"("tenant_id", "hash");

-- CreateIndex
CREATE INDEX "passkeys_tenant_id_user_id_idx" ON "passkeys"("tenant_id", "user_id");

-- CreateIndex
CREATE UNIQUE INDEX "passkeys_tenant_id_credential_id_key" ON "passkeys"("tenant_id", "credential_id");

-- CreateIndex
CREATE INDEX "sessions_tenant_id_user_id_idx" ON "sessions"("tenant_id", "user_id");

-- CreateIndex
CREATE UNIQUE INDEX "sessions_tenant_id_hash_key" ON "sessions"("tenant_id", "hash");

-- CreateIndex
CREATE INDEX "sign_in_failures_since_idx" ON "sign_in_failures"("since");

-- CreateIndex
CREATE INDEX "audit_entries_tenant_id_user_id_id_idx" ON "audit_entries"("tenant_id", "user_id", "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entries_tenant_id_action_id_idx" ON "audit_entries"("tenant_id", "action", "id" DESC);

-- AddForeignKey
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "passwords" ADD CONSTRAINT "passwords_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What follows is written by hand.
DO $$
DECLARE
  tenant CONSTANT text := '(SELECT nullif(current_setting(''itsm.tenant_id'', true), '''')::bigint)';
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['invitations', 'passwords', 'passkeys', 'sessions', 'audit_entries']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY "request" ON %I TO "itsm_request" USING ("tenant_id" = %s) WITH CHECK ("tenant_id" = %2$s)',
      name, tenant);
    EXECUTE format('CREATE POLICY "system" ON %I TO "itsm_system" USING (true) WITH CHECK (true)', name);
  END LOOP;
END
$$;

-- Nobody asks for credentials and sessions in a tenant's name: requests have no right to them.
GRANT SELECT, INSERT, UPDATE, DELETE ON "invitations", "passwords", "passkeys", "sessions", "sign_in_failures",
  "audit_entries" TO "itsm_system";
GRANT USAGE ON SEQUENCE "invitations_id_seq", "passkeys_id_seq", "sessions_id_seq" TO "itsm_system";

-- What was done is written with what was done, and never changed.
GRANT SELECT, INSERT ON "audit_entries" TO "itsm_request";
GRANT USAGE ON SEQUENCE "audit_entries_id_seq" TO "itsm_request", "itsm_system";

-- Administrators invite in their tenant's name; what a link is known by is for nobody to read.
GRANT INSERT, SELECT ("tenant_id", "id", "user_id", "demo", "expires_at", "used_at", "created_at"), UPDATE ("used_at")
  ON "invitations" TO "itsm_request";
GRANT USAGE ON SEQUENCE "invitations_id_seq" TO "itsm_request";
