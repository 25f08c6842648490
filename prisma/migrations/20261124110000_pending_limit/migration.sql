-- Which subscriptions get no new deliveries, since their workspace has reached its limit of pending ones. The release before
-- ignores both columns, and writes deliveries to all.
ALTER TABLE "webhook_subscriptions" ADD COLUMN "quota_reached_at" TIMESTAMPTZ(3), ADD COLUMN "quota_pending" INTEGER;
