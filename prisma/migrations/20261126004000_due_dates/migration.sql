-- outside of a transaction
-- The statements change two tables and build indexes.
ALTER TABLE tickets
  ADD COLUMN IF NOT EXISTS due_at timestamptz(3),
  ADD COLUMN IF NOT EXISTS due_at_set boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS first_responded_at timestamptz(3);

-- The resolution targets by priority, in minutes, such as {"HIGH": 480}.
ALTER TABLE ticket_sequences ADD COLUMN IF NOT EXISTS resolution_targets jsonb;

-- Tickets without a due date are in none of the indexes. With the status in the index, a filter by the status reads no
-- rows of the table.
CREATE INDEX CONCURRENTLY tickets_due_idx ON tickets (tenant_id, due_at DESC, id DESC, status)
  WHERE due_at IS NOT NULL;
CREATE INDEX CONCURRENTLY tickets_overdue_idx ON tickets (tenant_id, due_at DESC, id DESC, status)
  WHERE due_at IS NOT NULL AND status IN ('OPEN', 'IN_PROGRESS', 'PENDING');
