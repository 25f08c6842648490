-- Until its URL has responded with 2xx, a subscription gets few deliveries a minute.
ALTER TABLE "webhook_subscriptions"
  ADD COLUMN "first_succeeded_at" TIMESTAMPTZ(3),
  ADD COLUMN "trial_attempts" TIMESTAMPTZ(3)[] DEFAULT ARRAY[]::TIMESTAMPTZ(3)[];
UPDATE "webhook_subscriptions" SET "first_succeeded_at" = "last_success_at" WHERE "last_success_at" IS NOT NULL;
