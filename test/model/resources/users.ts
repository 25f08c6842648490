import type { ErrorCode, User } from '@itsm-api/contract';
import { anyOf, type ListQuery } from './lists.ts';
import { holdsWords } from './search.ts';

/*
 * Users, and who may be named (docs/decisions/data-model.md, tickets.md).
 */

/** What a body may name in a workspace. */
export interface References {
  isActiveUser(id: number): boolean;
  isTicket(id: number): boolean;
}

/** The codes of which one is answered where something is newly named that may not be. */
export function refusalsOf(
  { isActiveUser, isTicket }: References,
  { users, tickets = [] }: { users: (number | null | undefined)[]; tickets?: (number | null | undefined)[] },
): ErrorCode[] {
  const isWrong =
    users.some((id) => id != null && !isActiveUser(id)) || tickets.some((id) => id != null && !isTicket(id));
  return isWrong ? ['INVALID_REFERENCE'] : [];
}

export function isUserIn(user: User, query: ListQuery): boolean {
  return (
    anyOf(query.role, user.role) &&
    anyOf(query.active, user.active) &&
    anyOf(query.email, user.email) &&
    (query.q === undefined || holdsWords(query.q as string, [user.name, user.email]))
  );
}
