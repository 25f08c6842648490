-- Whose key made a subscription: agents see the deliveries of their own.
GRANT SELECT ("user_id") ON "api_keys" TO "itsm_request";
