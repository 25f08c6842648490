/* Finds sequences whose ids will soon be too high for an import (docs/decisions/tenant-transfer.md, "Ids"). */

/** The last id of a sequence. */
export interface HighSequence {
  name: string;
  lastId: number;
}

/** Describes a sequence that `findHighSequences` returns, and what to do about it. */
export const highSequence = {
  message: ({ name, lastId }: HighSequence) =>
    `The sequence ${name} is at ${lastId}, above 2^48. Imports accept ids up to 2^52.`,
  advice: 'See docs/operations/monitor-and-repair.md, "When a sequence is too high".',
};

/**
 * Returns the sequences of this installation that are above 2^48, which only an import of such ids causes. New rows then
 * get ids that approach the limit of imports.
 */
export async function findHighSequences(database: {
  query(text: string): Promise<{ rows: HighSequence[] }>;
}): Promise<HighSequence[]> {
  const { rows } = await database.query(
    `SELECT sequencename AS name, last_value::float8 AS "lastId" FROM pg_sequences
     WHERE schemaname = 'public' AND last_value > 2::bigint ^ 48 ORDER BY 1`,
  );
  return rows;
}
