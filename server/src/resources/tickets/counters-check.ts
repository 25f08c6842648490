import type { Databases } from '../../database/client/databases.ts';
import { withDedicatedConnection } from '../../database/client/dedicated-connection.ts';
import { type TenantId, toTenantId } from '../../shared/tenant-id.ts';

/** A stored total that differs from the actual row count. */
export interface WrongTotal {
  tenantId: TenantId;
  /**
   * Describes what the total counts: tickets with certain field values, ticket ordinals, the comments, links or
   * attachments of a ticket, or the bytes of attachments.
   */
  what: string;
  kept: number;
  counted: number;
}

/** The statement timeout for the check of the totals, in milliseconds. The check reads every ticket. */
const maxCheckMs = 30 * 60_000;

/**
 * Compares all stored totals with the actual row counts, in one snapshot. Resolves to the totals that differ. Omits
 * tenants in maintenance, because an import may still be adding their rows.
 */
export async function findWrongTotals(options: Databases['options']): Promise<WrongTotal[]> {
  type Row = Omit<WrongTotal, 'tenantId'> & { tenantId: string };
  const purpose = { name: 'totals', statementMs: maxCheckMs };
  const { rows } = await withDedicatedConnection<{ rows: Row[] }>(options, purpose, (connection) =>
    connection.query(
      `SELECT d.* FROM (${differences}) d LEFT JOIN tenants t ON t.id = d."tenantId" WHERE t.maintenance_since IS NULL`,
    ),
  );
  return rows.map((row) => ({ ...row, tenantId: toTenantId(row.tenantId) }));
}

const differences = `
  WITH counted AS (
    SELECT tenant_id, a.id AS assignee_id, status, priority, type, COALESCE(category, '') AS category,
      count(*)::int AS count
    FROM tickets CROSS JOIN LATERAL (VALUES (0::bigint), (assignee_id)) AS a (id)
    WHERE a.id IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6
  )
  SELECT tenant_id AS "tenantId",
    concat_ws(' ', 'tickets', status, priority, type, NULLIF(category, ''), 'of user ' || NULLIF(assignee_id, 0)) AS what,
    COALESCE(k.count, 0) AS kept, COALESCE(c.count, 0) AS counted
  FROM ticket_counts k FULL JOIN counted c USING (tenant_id, assignee_id, status, priority, type, category)
  WHERE COALESCE(k.count, 0) <> COALESCE(c.count, 0)
  UNION ALL
  SELECT tenant_id, 'ordinals of tickets', COALESCE(s.total, 0), COALESCE(c.count, 0)
  FROM ticket_sequences s FULL JOIN (
    SELECT tenant_id, CASE WHEN count(*) = max(ordinal) AND min(ordinal) = 1 THEN count(*)::int ELSE -1 END AS count
    FROM tickets GROUP BY 1
  ) c USING (tenant_id)
  WHERE COALESCE(s.total, 0) <> COALESCE(c.count, 0)
  UNION ALL
  SELECT tenant_id, 'comments of ticket ' || t.id, t.comment_count, COALESCE(c.count, 0)
  FROM tickets t LEFT JOIN (
    SELECT tenant_id, ticket_id AS id, count(*)::int AS count FROM comments GROUP BY 1, 2
  ) c USING (tenant_id, id)
  WHERE t.comment_count <> COALESCE(c.count, 0)
  UNION ALL
  SELECT tenant_id, 'links of ticket ' || t.id, t.link_count, COALESCE(c.count, 0)
  FROM tickets t LEFT JOIN (
    SELECT tenant_id, each.id, count(*)::int AS count
    FROM ticket_links CROSS JOIN LATERAL (VALUES (ticket_id), (target_id)) AS each (id) GROUP BY 1, 2
  ) c USING (tenant_id, id)
  WHERE t.link_count <> COALESCE(c.count, 0)
  UNION ALL
  SELECT tenant_id, 'attachments of ticket ' || t.id, t.attachment_count, COALESCE(c.count, 0)
  FROM tickets t LEFT JOIN (
    SELECT tenant_id, ticket_id AS id, count(*)::int AS count FROM attachments GROUP BY 1, 2
  ) c USING (tenant_id, id)
  WHERE t.attachment_count <> COALESCE(c.count, 0)
  UNION ALL
  SELECT tenant_id, 'bytes of attachments', COALESCE(u.bytes, 0)::float8, COALESCE(c.bytes, 0)::float8
  FROM attachment_usage u FULL JOIN (
    SELECT tenant_id, sum(size)::bigint AS bytes FROM attachments GROUP BY 1
  ) c USING (tenant_id)
  WHERE COALESCE(u.bytes, 0) <> COALESCE(c.bytes, 0)`;
