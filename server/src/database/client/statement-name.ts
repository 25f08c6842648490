import { createHash } from 'node:crypto';

const names = new Map<string, string>();

/** Fixed texts are a few hundred; more would be texts that are composed, which must fill no memory, PostgreSQL's least of all. */
const mostNames = 1000;

/**
 * The name under which PostgreSQL keeps a statement and its plan, made of the text, so that it means the same in every
 * process. Undefined for a text whose length goes with what is asked for, a list of parameters: there is another one
 * for each length, and PostgreSQL would keep them all until the connection ends; and for one that is one too many.
 */
export function statementName(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (hasList(text) || names.size >= mostNames) return undefined;
  const name = `itsm_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
  names.set(text, name);
  return name;
}

/** `IN ($1,$2)` or several rows of values: what Prisma makes of an array. */
function hasList(text: string): boolean {
  return /\bIN \(\$\d+\s*,|\)\s*,\s*\(\s*(?:\$|DEFAULT)/i.test(text);
}
