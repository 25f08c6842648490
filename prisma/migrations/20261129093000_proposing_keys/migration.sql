-- Marks the keys that can only propose changes.
ALTER TABLE "api_keys" ADD COLUMN "is_proposing" boolean NOT NULL DEFAULT false;
GRANT SELECT ("is_proposing") ON "api_keys" TO "itsm_request";
