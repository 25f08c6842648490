-- The words of a circuit breaker. Workers of before don't know these names: stop them first.
ALTER TABLE "webhook_subscriptions" RENAME COLUMN "rest_until" TO "open_until";
ALTER TABLE "webhook_subscriptions" RENAME COLUMN "rests" TO "openings";
