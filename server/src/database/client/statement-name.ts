import { createHash } from 'node:crypto';

const names = new Map<string, string>();

/**
 * Maximum number of names. The server has a few hundred fixed statements. The limit keeps generated statements from
 * filling the memory of PostgreSQL.
 */
const maxNames = 1000;

/**
 * Returns the name of a prepared statement: a hash of its text, so that it is the same in every process. Returns
 * undefined if the text has a list of parameters, or if there are `maxNames` names already. A statement with a list has
 * a different text for each length of the list. PostgreSQL would keep all these statements until the connection closes.
 */
export function statementName(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (hasList(text) || names.size >= maxNames) return undefined;
  const name = `itsm_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
  names.set(text, name);
  return name;
}

/** Returns true for `IN ($1,$2)` or several rows of values, which Prisma generates for arrays. */
function hasList(text: string): boolean {
  return /\bIN \(\$\d+\s*,|\)\s*,\s*\(\s*(?:\$|DEFAULT)/i.test(text);
}
