import { type Sql, sql, tenant } from '../../database/client/sql.ts';
import { command } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';

/**
 * The number of tickets that one statement inserts. With this number, a statement takes much less time than the
 * statement timeout allows.
 */
const batchSize = 2500;

const subjects = [
  ['VPN drops', 'NETWORK'],
  ['Wi-Fi is slow', 'NETWORK'],
  ['Laptop does not start', 'HARDWARE'],
  ['Screen flickers', 'HARDWARE'],
  ['Printer jams', 'HARDWARE'],
  ['Cannot open a spreadsheet', 'SOFTWARE'],
  ['Update fails', 'SOFTWARE'],
  ['Licence has run out', 'SOFTWARE'],
  ['Access to a shared drive', 'ACCESS'],
  ['Locked out after vacation', 'ACCESS'],
  ['New colleague needs an account', 'ACCESS'],
  ['Mail does not arrive', 'EMAIL'],
  ['Phishing in the inbox', 'EMAIL'],
  ['Conference room is too loud', 'OTHER'],
] as const;
const places = ['Leipzig', 'Berlin', 'floor 2', 'floor 3', 'the front desk', 'Finance', 'Sales', 'the warehouse'];

/**
 * SQL that inserts demo tickets. Most of the older tickets are closed. All values are computed from the ordinal, so
 * every run creates the same tickets. The four types alternate, so the ordinal also determines the ticket number.
 */
const insert = command<Demo>((given) => {
  const pick = (list: Sql, number: Sql) => sql`(${list})[1 + ${number} % cardinality(${list})]`;
  const users = sql`${given.users}::bigint[]`;
  return sql`
  WITH made AS (
    INSERT INTO tickets (tenant_id, ordinal, type, number, title, description, status, priority, category, requester_id,
      assignee_id, resolution, resolved_at, closed_at, created_at, updated_at)
    SELECT ${tenant}::bigint, o, (ARRAY['INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST'])[1 + (o - 1) % 4],
      (o - 1) / 4 + 1,
      ${pick(sql`${given.titles}::text[]`, sql`a`)} || ', ' || ${pick(sql`${given.places}::text[]`, sql`b`)},
      'Since this morning. It worked yesterday, and a restart did not help.', status,
      (ARRAY['LOW', 'MEDIUM', 'MEDIUM', 'MEDIUM', 'HIGH', 'CRITICAL'])[1 + b % 6],
      ${pick(sql`${given.categories}::text[]`, sql`a`)}, ${pick(users, sql`b`)},
      CASE WHEN c % 5 > 0 THEN ${pick(users, sql`c`)} END,
      CASE WHEN status IN ('RESOLVED', 'CLOSED') THEN 'Fixed, and tested with the requester.' END,
      CASE WHEN status IN ('RESOLVED', 'CLOSED') THEN at + interval '5 hours' END,
      CASE WHEN status = 'CLOSED' THEN at + interval '3 days' END, at,
      CASE status WHEN 'CLOSED' THEN at + interval '3 days' WHEN 'RESOLVED' THEN at + interval '5 hours' ELSE at END
    FROM generate_series(${given.first}::int, ${given.last}::int) AS o
    CROSS JOIN LATERAL (
      SELECT abs(hashint4(o) / 2) AS a, abs(hashint4(o + 7919) / 2) AS b, abs(hashint4(o + 104729) / 2) AS c,
        ${given.from}::timestamptz
          + (${given.to}::timestamptz - ${given.from}::timestamptz) * (o::float8 / ${given.count}::int) AS at
    ) AS random
    CROSS JOIN LATERAL (
      SELECT CASE WHEN c % 100 < 94 AND o < ${given.count}::int * 0.97 THEN 'CLOSED'
        ELSE (ARRAY['OPEN', 'IN_PROGRESS', 'PENDING', 'RESOLVED', 'CANCELLED'])[1 + c % 5] END AS status
    ) AS chosen
    ORDER BY o
    RETURNING 1
  )
  INSERT INTO ticket_sequences (tenant_id, total, incident, problem, change, service_request)
  SELECT ${tenant}, ${given.last}, (${given.last} + 3) / 4, (${given.last} + 2) / 4, (${given.last} + 1) / 4,
    ${given.last} / 4 FROM (SELECT count(*) FROM made) AS all_of_them
  ON CONFLICT (tenant_id) DO UPDATE SET total = EXCLUDED.total, incident = EXCLUDED.incident,
    problem = EXCLUDED.problem, change = EXCLUDED.change, service_request = EXCLUDED.service_request`;
});

/** The parameters of the statement: a range of ordinals, and the values to choose from. */
interface Demo extends Pick<DemoTickets, 'count' | 'from' | 'to'> {
  first: number;
  last: number;
  users: bigint[];
  titles: string[];
  categories: string[];
  places: string[];
}

interface DemoTickets {
  count: number;
  /** The creation times of the first and the last ticket. */
  from: Date;
  to: Date;
  onProgress(made: number): void;
}

/** Creates demo tickets in a tenant without tickets. Emits no events and records no activities. */
export async function createDemoTickets(db: TenantClient, { count, from, to, onProgress }: DemoTickets): Promise<void> {
  const users = await db.user.findMany({ select: { id: true }, orderBy: { id: 'asc' } });
  const shared = {
    ...{ count, from, to, places },
    users: users.map(({ id }) => id),
    titles: subjects.map(([title]) => title),
    categories: subjects.map(([, category]) => category),
  };
  for (let first = 1; first <= count; first += batchSize) {
    const last = Math.min(first + batchSize - 1, count);
    await db.$sql(insert, { ...shared, first, last });
    onProgress(last);
  }
}
