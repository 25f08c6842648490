import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';

/** An id in a body, and the field that gives it. */
interface Reference {
  path: string;
  id: number;
}

/** The reference that a nullable field makes, unless it is cleared, absent or what it was before. */
export function reference(path: string, id: number | null | undefined, before?: number | null): Reference[] {
  return id == null || id === before ? [] : [{ path, id }];
}

/**
 * Checks that each id names an active user of the tenant.
 * @throws ApiError INVALID_REFERENCE naming each field that doesn't
 */
export async function checkUsers({ db }: Context, references: Reference[]): Promise<void> {
  if (references.length === 0) return;
  const ids = [...new Set(references.map(({ id }) => id))];
  const users = await db.user.findMany({ where: { id: { in: ids }, active: true }, select: { id: true } });
  refuseUnless(
    users.map((user) => Number(user.id)),
    references,
    'names no active user of this workspace',
  );
}

/**
 * Checks that each id names a ticket of the tenant.
 * @throws ApiError INVALID_REFERENCE naming each field that doesn't
 */
export async function checkTickets({ db }: Context, references: Reference[]): Promise<void> {
  if (references.length === 0) return;
  const tickets = await db.ticket.findMany({
    where: { id: { in: references.map(({ id }) => id) } },
    select: { id: true },
  });
  refuseUnless(
    tickets.map((ticket) => Number(ticket.id)),
    references,
    'names no ticket of this workspace',
  );
}

function refuseUnless(existing: number[], references: Reference[], message: string): void {
  const known = new Set(existing);
  const details = references.filter(({ id }) => !known.has(id)).map(({ path }) => ({ path, message }));
  const [first] = details;
  if (first === undefined) return;
  throw new ApiError('INVALID_REFERENCE', `${first.path} ${first.message}`, { details: details.slice(0, 20) });
}
