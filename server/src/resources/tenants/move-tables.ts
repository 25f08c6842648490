import type pg from 'pg';

/** A table that holds rows of tenants. */
export interface TenantTable {
  name: string;
  /** Its primary key as rows are ordered by it, the same on every server whatever its collation. */
  order: string;
  /** The column by which its rows refer to others of its own, such as the parent of a ticket. */
  parent: string | null;
}

/**
 * Tables that triggers fill when rows of others are written: they come to be on the other side as they did on this one.
 * Places in the order of changes are those of the server that gave them (docs/decisions/changes.md).
 */
const madeByTriggers = ['ticket_counts', 'changes', 'texts'];

/** What says of a tenant where it is, and goes nowhere. */
const movesTable = 'tenant_moves';

interface Found extends TenantTable {
  refersTo: string[];
}

/** What moves with a tenant, found in the catalogue, so that a new table can't be forgotten. */
export interface TenantTables {
  /** What is copied; what rows refer to comes before them. */
  copied: TenantTable[];
  /** What triggers make of it. */
  made: TenantTable[];
}

/** Every table with a `tenant_id`. */
export async function readTenantTables(client: pg.ClientBase): Promise<TenantTables> {
  const { rows } = await client.query<Found>(select, [movesTable]);
  const copied = rows.filter(({ name }) => !madeByTriggers.includes(name));
  return { copied: inOrder(copied), made: rows.filter(({ name }) => madeByTriggers.includes(name)) };
}

const select = `
  SELECT c.relname::text AS name,
    (SELECT string_agg(quote_ident(a.attname) || CASE WHEN a.attcollation <> 0 THEN ' COLLATE "C"' ELSE '' END, ', '
        ORDER BY place)
      FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
      WHERE i.indrelid = c.oid AND i.indisprimary) AS "order",
    (SELECT a.attname::text FROM pg_constraint f JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = f.conkey[2]
      WHERE f.conrelid = c.oid AND f.confrelid = c.oid AND f.contype = 'f') AS parent,
    ARRAY(SELECT r.relname::text FROM pg_constraint f JOIN pg_class r ON r.oid = f.confrelid
      WHERE f.conrelid = c.oid AND f.confrelid <> c.oid AND f.contype = 'f') AS "refersTo"
  FROM pg_class c
  WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname <> $1
    AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped)
  ORDER BY c.relname`;

function inOrder(tables: Found[]): TenantTable[] {
  const ordered: Found[] = [];
  const waiting = new Set(tables);
  const waits = ({ refersTo }: Found) => [...waiting].some(({ name }) => refersTo.includes(name));
  while (waiting.size > 0) {
    const next = [...waiting].filter((table) => !waits(table));
    if (next.length === 0) throw new Error('Tables refer to each other in a circle: nothing could be copied first.');
    for (const table of next) waiting.delete(table);
    ordered.push(...next);
  }
  return ordered;
}
