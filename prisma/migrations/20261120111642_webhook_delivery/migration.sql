-- DropIndex
DROP INDEX "deliveries_tenant_id_subscription_id_state_id_idx";

-- AlterTable
ALTER TABLE "deliveries" DROP COLUMN "updated_at",
ADD COLUMN     "attempts" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "claim" UUID,
ADD COLUMN     "next_attempt_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN     "settled_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "webhook_subscriptions" ADD COLUMN     "failing_since" TIMESTAMPTZ(3),
ADD COLUMN     "failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "rest_until" TIMESTAMPTZ(3),
ADD COLUMN     "rests" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "delivery_attempts" (
    "tenant_id" BIGINT NOT NULL DEFAULT 0,
    "id" BIGSERIAL NOT NULL,
    "delivery_id" BIGINT NOT NULL,
    "number" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "status" INTEGER,
    "error" TEXT,
    "answer" TEXT,

    CONSTRAINT "delivery_attempts_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateIndex
CREATE INDEX "delivery_attempts_tenant_id_delivery_id_id_idx" ON "delivery_attempts"("tenant_id", "delivery_id", "id");

-- CreateIndex
CREATE INDEX "deliveries_due_idx" ON "deliveries"("tenant_id", "subscription_id", "next_attempt_at") WHERE ("state" = 'PENDING');

-- CreateIndex
CREATE INDEX "deliveries_tenant_id_subscription_id_id_idx" ON "deliveries"("tenant_id", "subscription_id", "id" DESC);

-- CreateIndex
CREATE INDEX "deliveries_tenant_id_state_id_idx" ON "deliveries"("tenant_id", "state", "id" DESC);

-- AddForeignKey
ALTER TABLE "delivery_attempts" ADD CONSTRAINT "delivery_attempts_tenant_id_delivery_id_fkey" FOREIGN KEY ("tenant_id", "delivery_id") REFERENCES "deliveries"("tenant_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
