-- outside of a transaction
-- Rows from before searching: each batch commits.
CALL "fill_texts"();
