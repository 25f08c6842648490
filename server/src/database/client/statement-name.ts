import { createHash } from 'node:crypto';

/**
 * Maximum number of statement names. The server has a few hundred fixed statements. Without a limit, generated
 * statements could fill PostgreSQL's memory.
 */
const maxNames = 1000;

/**
 * Returns a function that returns the name of a prepared statement. The name is a hash of the SQL text, so every process
 * uses the same name.
 *
 * The function returns undefined if `maxNames` names exist. It also returns undefined if the text contains a list of
 * parameters: each list length would need its own prepared statement, which PostgreSQL keeps until the connection closes.
 */
export function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined) return known;
    if (hasList(text) || names.size >= maxNames) return undefined;
    const name = `itsm_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
    names.set(text, name);
    return name;
  };
}

/** Returns the name of a prepared statement in this process, or undefined. */
export const statementName = createStatementNames();

/** Returns true if the SQL contains `IN ($1,$2)` or several rows of values. Prisma generates such SQL for arrays. */
function hasList(text: string): boolean {
  return /\bIN \(\$\d+\s*,|\)\s*,\s*\(\s*(?:\$|DEFAULT)/i.test(text);
}
