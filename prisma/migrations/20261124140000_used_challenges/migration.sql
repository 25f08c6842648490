CREATE TABLE "used_challenges" (
    "challenge" TEXT NOT NULL,
    "used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "used_challenges_pkey" PRIMARY KEY ("challenge")
);

CREATE INDEX "used_challenges_used_at_idx" ON "used_challenges"("used_at");

GRANT SELECT, INSERT, UPDATE, DELETE ON "used_challenges" TO "itsm_system";

-- Passkeys of releases before were not asked to verify their user.
ALTER TABLE "passkeys" ADD COLUMN "verifies_user" BOOLEAN NOT NULL DEFAULT false;
