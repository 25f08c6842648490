-- The id of the target of an audit entry if it is a text, such as the id of a ticket category.
ALTER TABLE "audit_entries" ADD COLUMN "target_key" text;
