-- outside of a transaction
-- A key is looked up with each request: what holds the table does so for a moment, and reads its rows when it holds it
-- no more. What was left by an interruption is made again.
ALTER TABLE "api_keys"
  DROP CONSTRAINT IF EXISTS "api_keys_tenant_id_rotated_from_fkey",
  ADD CONSTRAINT "api_keys_tenant_id_rotated_from_fkey" FOREIGN KEY ("tenant_id", "rotated_from")
    REFERENCES "api_keys"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE NOT VALID;
ALTER TABLE "api_keys" VALIDATE CONSTRAINT "api_keys_tenant_id_rotated_from_fkey";
ALTER TABLE "webhook_subscriptions"
  DROP CONSTRAINT IF EXISTS "webhook_subscriptions_tenant_id_key_id_fkey",
  ADD CONSTRAINT "webhook_subscriptions_tenant_id_key_id_fkey" FOREIGN KEY ("tenant_id", "key_id")
    REFERENCES "api_keys"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE NOT VALID;
ALTER TABLE "webhook_subscriptions" VALIDATE CONSTRAINT "webhook_subscriptions_tenant_id_key_id_fkey";
