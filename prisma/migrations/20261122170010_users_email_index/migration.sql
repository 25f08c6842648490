-- outside of a transaction
-- Who signs in by e-mail and password names no workspace: they are looked for in all.
CREATE INDEX CONCURRENTLY "users_email_idx" ON "users"("email");
