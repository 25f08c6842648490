import { createHash } from 'node:crypto';

const names = new Map<string, string>();

/**
 * Maximum number of names. The server has a few hundred fixed statements. Without a limit, generated statements could
 * fill the memory of PostgreSQL.
 */
const maxNames = 1000;

/**
 * Returns the name of a prepared statement: a hash of its text, so that the name is the same in every process. Returns
 * undefined if there are already `maxNames` names, or if the text has a list of parameters. A list would need a
 * prepared statement for each of its lengths, and PostgreSQL keeps prepared statements until the connection closes.
 */
export function statementName(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (hasList(text) || names.size >= maxNames) return undefined;
  const name = `itsm_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
  names.set(text, name);
  return name;
}

/** Returns true for SQL with `IN ($1,$2)` or several rows of values, which Prisma generates for arrays. */
function hasList(text: string): boolean {
  return /\bIN \(\$\d+\s*,|\)\s*,\s*\(\s*(?:\$|DEFAULT)/i.test(text);
}
