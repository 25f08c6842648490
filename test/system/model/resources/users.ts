import type { ErrorCode, TicketCategory, User } from '@itsm-api/contract';
import type { HoursSetting } from './business-hours.ts';
import { anyOf, type ListQuery } from './lists.ts';
import { holdsWords } from './search.ts';

/* Models users and the rules for references to them (docs/decisions/data-model.md, tickets.md). */

/** Functions that check whether a request body in a workspace can reference an id. */
export interface References {
  isActiveUser(id: number): boolean;
  isUser(id: number): boolean;
  /** Returns true if the user can approve changes: an active ADMIN or AGENT. */
  isApprover(id: number): boolean;
  isActiveTeam(id: number): boolean;
  isTicket(id: number): boolean;
  isAsset(id: number): boolean;
  isActiveCategory(id: string): boolean;
  /** Whether the policy for changes applies to the request. */
  hasChangePolicy: boolean;
  /** The business hours and the targets that apply to the request. */
  hours: HoursSetting;
  /** Returns the fixed category that a ticket category refines. */
  refinedCategory(id: string | null | undefined): TicketCategory | null;
}

/** Returns the expected error codes for a request with new references to users, tickets, assets, teams and ticket categories. */
export function rejectionsOf(
  { isActiveUser, isActiveTeam, isTicket, isAsset, isActiveCategory }: References,
  {
    users,
    tickets = [],
    assets = [],
    teams = [],
    category,
  }: Record<'users', Ids> &
    Partial<Record<'tickets' | 'assets' | 'teams', Ids>> & { category?: string | null | undefined },
): ErrorCode[] {
  const isWrong =
    users.some((id) => id != null && !isActiveUser(id)) ||
    tickets.some((id) => id != null && !isTicket(id)) ||
    assets.some((id) => id != null && !isAsset(id)) ||
    teams.some((id) => id != null && !isActiveTeam(id)) ||
    (category != null && !isActiveCategory(category));
  return isWrong ? ['INVALID_REFERENCE'] : [];
}

type Ids = (number | null | undefined)[];

export function isUserIn(user: User, query: ListQuery): boolean {
  return (
    anyOf(query.role, user.role) &&
    anyOf(query.active, user.active) &&
    anyOf(query.email, user.email) &&
    (query.q === undefined || holdsWords(query.q as string, [user.name, user.email]))
  );
}
