-- What came of a delivery is told by the API now.
ALTER TABLE "delivery_attempts" ADD COLUMN "answer_public" BOOLEAN NOT NULL DEFAULT false;
GRANT SELECT ON "delivery_attempts" TO "itsm_request";
