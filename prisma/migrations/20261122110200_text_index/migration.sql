-- outside of a transaction
-- What is written waits in a list of its own, from which it goes into the index at once for many rows: a list so short
-- that every search looks through it in no time (docs/decisions/search.md).
CREATE INDEX CONCURRENTLY "texts_document_idx" ON "texts" USING GIN ("document") WITH (gin_pending_list_limit = 64);
